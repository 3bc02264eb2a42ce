/** The interpreters that servers are run by, and which of their options take a value or code. */
import { isPlain } from "./Program.js"

/**
 * An interpreter's names, and its options: `with` take the next word as their value, `code` takes it in place of a script,
 * `module` in place of the path of one. Of the long options, those of `flag` are known to take no value.
 */
export interface Interpreter {
  readonly names: RegExp
  readonly with: RegExp
  readonly code: RegExp
  readonly flag: RegExp
  readonly module?: RegExp
  /** The words that may stand before a script. */
  readonly subcommand?: RegExp
}

/** The words of a server itself: `memory.json` of `node -r ./hook.cjs server.js memory.json`. */
export interface Own {
  /** The index of the first one. The words before it decide what is run. */
  readonly from: number
  /** True where they belong to a script; false where it is not known what the program does with them. */
  readonly isScripts: boolean
}

const interpreters: ReadonlyArray<Interpreter> = [
  {
    names: /^(?:node(?:js)?|bun|deno|tsx|ts-node)$/,
    with: /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--preload|-c|--config|--tsconfig|--project|-[PLIODdlF])$/,
    code: /^(?:-e|-p|-pe|--eval|--print)(?:=|$)/,
    flag: /^--(?:(?:no|enable|preserve|expose|unstable)-[\w-]+|(?:experimental|harmony)-(?!default-type|policy|sea|config|loader|test)[\w-]+|trace-(?!event|require)[\w-]+|allow-(?:all|net|read|write|env|run|sys|ffi|import|addons|child-process|worker|wasi)|use-(?!largepages)[\w-]+|inspect(?:-brk|-wait)?|watch|test|quiet|silent|bun|smol|hot|cached-only|esm|swc|transpile-?only|throw-deprecation|pending-deprecation)$/,
    subcommand: /^(?:run|serve|test|bench|inspect|watch)$/
  },
  {
    names: /^python[\d.]*$|^pypy[\d.]*$/,
    with: /^-[A-Za-z]*[WX]$/,
    code: /^-[A-Za-z]*c/,
    flag: /^--(?:help|version)$/,
    module: /^-[A-Za-bd-z]*m/
  },
  { names: /^(?:ruby|perl)[\d.]*$/, with: /^-[rICMm]$/, code: /^-[A-Za-z]*[eE]/, flag: /^--(?:yjit|jit|verbose)$/ },
  { names: /^php[\d.]*$/, with: /^-[cdztS]$/, code: /^-[rBRE]/, flag: /^--(?:no-php-ini|interactive)$/ },
  {
    names: /^(?:ba|da|a|z|k)?sh$/,
    with: /^[-+][A-Za-z]*[oO]$/,
    code: /^-[A-Za-z]*c/,
    flag: /^--(?:norc|noprofile|noediting|login|posix|restricted|verbose)$/
  }
]

/** Finds the interpreter of a name, such as `python3.12`; undefined where it is none that is known. */
export const find = (name: string): Interpreter | undefined => interpreters.find(({ names }) => names.test(name))

/** Tests whether an interpreter takes a word for an option; a shell's may begin with `+`. */
export const isOption = (word: string): boolean => !isPlain(word) || /^\+[A-Za-z]+$/.test(word)

/**
 * Finds where the words of an interpreter's script begin. Where that is in doubt, they begin later rather than too early:
 * code on the command line can run any word after it, and what follows an unknown option is taken for its value.
 */
export const ownWords = (interpreter: Interpreter, args: ReadonlyArray<string>): Own => {
  const { code, flag, module, subcommand } = interpreter
  let isFirst = true
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ""
    if (word === "--") return { from: at + 2, isScripts: true }
    if (!isOption(word)) {
      if (!isFirst || subcommand?.test(word) !== true) return { from: at + 1, isScripts: true }
      isFirst = false
      continue
    }
    if (code.test(word)) break
    if (module?.test(word) === true) return { from: at + (word.endsWith("m") ? 2 : 1), isScripts: false }
    const isUnknown = word.startsWith("--") && !word.includes("=") && !flag.test(word)
    if (interpreter.with.test(word) || (isUnknown && isPlain(args[at + 1] ?? ""))) at++
  }
  return { from: args.length, isScripts: true }
}
