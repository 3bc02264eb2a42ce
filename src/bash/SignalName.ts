/** Names the signal that an exit code above 128 stands for. */

/** The words of the system for signals that programs rarely use as exit codes of their own, by exit code. */
const words: Readonly<Record<number, string>> = {
  131: "Quit (SIGQUIT)",
  132: "Illegal instruction",
  133: "Trace/breakpoint trap",
  134: "Aborted",
  135: "Bus error",
  136: "Floating point exception",
  137: "Killed (SIGKILL)",
  139: "Segmentation fault",
  141: "Broken pipe (SIGPIPE)",
  143: "Terminated (SIGTERM)",
  152: "CPU time limit exceeded",
  153: "File size limit exceeded",
  159: "Bad system call"
}

/**
 * Returns the words for the signal that ended a command with this exit code; undefined where the code can as well be the
 * program's own, as 129 is git's for wrong usage.
 */
export const ofExitCode = (exitCode: number): string | undefined => words[exitCode]
