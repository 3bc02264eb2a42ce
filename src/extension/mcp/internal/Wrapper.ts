/** The programs that start another one, which stands among their words: `env A=b node server.js`. */
import * as Interpreter from "./Interpreter.js"
import * as PackageRunner from "./PackageRunner.js"
import { isPlain, nameOf, type Program } from "./Program.js"

const wrappers =
  /^(?:env|nice|ionice|nohup|time|timeout|stdbuf|setsid|sudo|doas|exec|command|xvfb-run|dotenv|cross-env|flock|busybox|taskset|chrt|prlimit|setpriv|unshare|strace|catchsegv|systemd-run|systemd-inhibit|dbus-run-session|nodemon|watch|xargs|firejail)$/

const runners =
  /^(?:make|gmake|just|task|rake|gradle|gradlew|mvn|mise|npm|pnpm|yarn|uv|poetry|pdm|hatch|pipenv|cargo|go|dotnet|composer)$/

/** Tests whether a program of this name starts another one. */
export const isOne = (name: string): boolean => wrappers.test(name)

/** Tests whether a program of this name runs tasks that it finds in a directory. */
export const isTaskRunner = (name: string): boolean => runners.test(name)

const isKnown = (name: string): boolean =>
  isTaskRunner(name) || isOne(name) || PackageRunner.isOne(name) || Interpreter.find(name) !== undefined

/**
 * Finds the program that a wrapper starts: `node` of `env A=b node server.js`; undefined where it is none that is known.
 */
export const inner = (program: Program): Program | undefined => {
  const at = program.args.findIndex((word) => isKnown(nameOf(word)))
  const command = program.args[at]
  return command === undefined ? undefined : { ...program, command, args: program.args.slice(at + 1) }
}

/**
 * Returns the number of a wrapper's words before the program that it starts, among which it takes variables:
 * `env A=b node server.js`; 0 for another program.
 */
export const variablesIn = (program: Program): number => {
  const { args, command } = program
  if (!isOne(nameOf(command))) return 0
  const started = inner(program)
  if (started !== undefined) return args.length - started.args.length - 1
  const at = args.findIndex((word) => isPlain(word) && !word.includes("="))
  return at < 0 ? args.length : at
}
