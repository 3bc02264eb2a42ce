/** The rows that a terminal breaks where it becomes narrower. It tells nobody; most are known by their environment. */
import * as Config from "effect/Config"

/**
 * `all` rows that are too long for it; those of `others` than the cursor's, of which it shows the beginning (xterm.js, as
 * in VS Code); or `none` (xterm).
 */
export type Reflow = "all" | "others" | "none"

/** The programs whose terminal is xterm.js, by `TERM_PROGRAM`. */
const overXtermJs: ReadonlySet<string> = new Set(["vscode", "Hyper", "Tabby"])

const variable = (name: string) => Config.withDefault(Config.string(name), "")

/** Reads it from the environment. In tmux, which breaks all, the variables of the terminal around it may be left. */
export const config: Config.Config<Reflow> = Config.map(
  Config.all([variable("TMUX"), variable("TERM_PROGRAM"), variable("XTERM_VERSION")]),
  ([tmux, program, xterm]) => {
    if (tmux !== "") return "all"
    return overXtermJs.has(program) ? "others" : xterm === "" ? "all" : "none"
  }
)
