/**
 * Removes from bash's messages what comes from the way in which the session runs a command.
 *
 * @since 0.1.0
 */

/** Matches bash's own message that it has no terminal to give to a child; no program can print it with this pid. */
const noTerminal = (pid: number) => new RegExp(`bash: \\[${pid}: \\d+ \\(\\d+\\)\\] tcsetattr: .*\\n`, "g")

/**
 * Removes the name of the file that the shell reads the command from, and bash's messages about having no terminal.
 *
 * @param file the file with the command
 * @param pid the shell's pid, as in its messages
 * @since 0.1.0
 */
export const remove = (chunk: Buffer, file: string, pid: number): Buffer => {
  const named = `${file}: `
  if (!chunk.includes(named) && !chunk.includes(`bash: [${pid}: `)) return chunk
  const own = Buffer.from(named).toString("latin1")
  return Buffer.from(
    chunk
      .toString("latin1")
      .replaceAll(`bash: ${own}`, "bash: ")
      // A subshell in the background is not interactive, and names the file alone.
      .replaceAll(`${own}line `, "bash: line ")
      .replaceAll(noTerminal(pid), ""),
    "latin1"
  )
}
