/**
 * The interpreters that servers are run by, and which of their options take a value or code.
 *
 * @since 0.1.0
 */

/**
 * An interpreter's names, and its options that take the next word: `with` as their value, `code` in place of a script.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interpreter {
  readonly names: RegExp
  readonly with: RegExp
  readonly code: RegExp
}

const interpreters: ReadonlyArray<Interpreter> = [
  {
    names: /^(?:node(?:js)?|bun|deno|tsx|ts-node)$/,
    with: /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--preload|-c|--config|--tsconfig|--project|-P)$/,
    code: /^(?:-e|-p|-pe|--eval|--print)(?:=|$)/
  },
  { names: /^python[\d.]*$|^pypy[\d.]*$/, with: /^-[WX]$/, code: /^-[A-Za-z]*c/ },
  { names: /^(?:ruby|perl)[\d.]*$/, with: /^-[rICMm]$/, code: /^-[A-Za-z]*[eE]/ },
  { names: /^php[\d.]*$/, with: /^-[cdz]$/, code: /^-[rBRE]/ },
  { names: /^(?:ba|da|z|k)?sh$/, with: /^[-+][oO]$/, code: /^-[A-Za-z]*c/ }
]

/**
 * Finds the interpreter of a name, such as `python3.12`; undefined where it is none that is known.
 *
 * @since 0.1.0
 * @category finding
 */
export const find = (name: string): Interpreter | undefined => interpreters.find(({ names }) => names.test(name))
