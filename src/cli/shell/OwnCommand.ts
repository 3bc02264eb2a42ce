/** The commands of `synapse shell` itself, which begin with `/`. */

/** The usage and the purpose of each command, in the order of `/help`. */
const described = {
  ask: ["/ask <question>", "Ask the agent, which works in this session; short: ?<question>"],
  resume: ["/resume [id]", "Go on with an earlier session of the agent, or the newest here."],
  undo: ["/undo", "Take back what the agent's last turn here changed."],
  diff: ["/diff", "Show what /undo would take back."],
  allow: ["/allow <path>", "Let commands write to a path, read a hidden one, or reach a host, until you leave."],
  policy: ["/policy", "Show what commands may read and write."],
  restart: ["/restart", "Start a new shell; variables and background jobs are gone then."],
  help: ["/help", "Show this."],
  exit: ["/exit [code]", "Leave. exit and Ctrl-D do the same."]
} as const

export type Name = keyof typeof described

export const names: ReadonlyArray<string> = Object.keys(described)

export const isName = (word: string): word is Name => Object.hasOwn(described, word)

export const usage = (name: Name): string => described[name][0]

export const help: string = [
  "Everything else is a command line for bash. Ctrl-C ends what runs;",
  "lines that you type meanwhile are run afterwards.",
  "",
  ...Object.values(described).map(([usage, purpose]) => `  ${usage.padEnd(16)} ${purpose}`),
  "",
  "command:search lists the commands that Synapse adds, and TodoWrite --show the tasks."
].join("\n")
