import * as Quote from "../../bash/Quote.js"
import * as ShellEnvironment from "../../session/ShellEnvironment.js"

/**
 * Returns lines of bash that set `TERM` to the terminal's, and every variable that the session has set against
 * questions, pagers and editors to the person's own value. What a command has set since stays.
 */
export const script = (): string => {
  const { COLORTERM, TERM = "xterm" } = process.env
  const lines = Object.entries(ShellEnvironment.unattended).flatMap(([name, value]) => {
    if (name === "TERM" || name === "HISTFILE") return []
    const own = process.env[name]
    const back = own === undefined ? `unset ${name}` : `export ${name}=${Quote.word(own)}`
    return [`[[ \${${name}-} != ${Quote.word(value)} ]] || ${back}`]
  })
  const colours = COLORTERM === undefined ? [] : [`export COLORTERM=${Quote.word(COLORTERM)}`]
  return [`export TERM=${Quote.word(TERM)}`, ...colours, ...lines].join("\n")
}
