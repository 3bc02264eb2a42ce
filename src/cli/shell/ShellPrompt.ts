/**
 * The prompt of `synapse shell`: the directory, how the last command ended, and whether anything confines commands.
 *
 * @since 0.1.0
 */
import * as ForeignText from "../../domain/ForeignText.js"

/**
 * The facts that the prompt tells.
 *
 * @since 0.1.0
 * @category models
 */
export interface Facts {
  readonly cwd: string
  readonly home: string
  /** The exit code of the last command. */
  readonly code: number
  readonly isConfined: boolean
  readonly isRoot: boolean
  /** False where no control sequence may be written. */
  readonly hasColours: boolean
}

/** The most characters of a directory that are shown. */
const longest = 60

const directoryOf = (cwd: string, home: string): string => {
  const isBelow = home.length > 1 && (cwd === home || cwd.startsWith(`${home}/`))
  const short = isBelow ? `~${cwd.slice(home.length)}` : cwd
  return ForeignText.word(short.length <= longest ? short : `…${short.slice(-longest)}`, longest + 1)
}

/**
 * Makes the prompt. An exit code of 0 is not shown, nor a sandbox: only that there is none.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ code, cwd, hasColours, home, isConfined, isRoot }: Facts): string => {
  const styled = (style: string, text: string) => (hasColours ? `\x1b[${style}m${text}\x1b[m` : text)
  return [
    styled("1;34", directoryOf(cwd, home)),
    ...(isConfined ? [] : [styled("1;33", "NO SANDBOX")]),
    ...(code === 0 ? [] : [styled("31", `[${code}]`)]),
    isRoot ? "# " : "$ "
  ].join(" ")
}
