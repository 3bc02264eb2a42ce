/**
 * Tells which words of a program are those of the server itself, and which decide what is run.
 *
 * @since 0.1.0
 */
import * as Interpreter from "./Interpreter.js"
import * as PackageRunner from "./PackageRunner.js"
import { nameOf, type Program } from "./Program.js"
import * as Wrapper from "./Wrapper.js"

/** Matches programs that are scripts themselves. */
const script = /\.(?:[cm]?[jt]s|py|sh|rb|pl|php)$/

/** Finds the words of a server that an inner program runs, which begins with so many words of the outer one's. */
const within = (program: Program, command: string, at: number): Interpreter.Own => {
  const { from, isScripts } = find({ ...program, command, args: program.args.slice(at) })
  return { from: at + from, isScripts }
}

/**
 * Finds the words of a server itself.
 *
 * @since 0.1.0
 * @category finding
 */
export const find = (program: Program): Interpreter.Own => {
  const { args, command } = program
  const name = nameOf(command)
  const after = PackageRunner.wordsAfter(program)
  if (after !== undefined) {
    const [words] = PackageRunner.split(after)
    const at = args.length - after.length + words.length
    const inner = words.at(-1) ?? ""
    return Interpreter.find(inner) === undefined ? { from: at, isScripts: false } : within(program, inner, at)
  }
  const interpreter = Interpreter.find(name)
  if (interpreter !== undefined) return Interpreter.ownWords(interpreter, args)
  const inner = Wrapper.isOne(name) ? Wrapper.inner(program) : undefined
  return inner === undefined
    ? { from: 0, isScripts: script.test(name) }
    : within(program, inner.command, args.length - inner.args.length)
}
