/** Finds the last command of a text, the one whose end a call waits for. */
import * as CommandLine from "../../bash/CommandLine.js"
import * as CommandTree from "../../bash/CommandTree.js"
import type { Word } from "../../bash/Token.js"

/**
 * The most characters of a text whose last command is looked at; of longer ones, the parser leaves the end to bash.
 */
export const longestRead = 100_000

/**
 * Returns the words of the last command of a text; none where it is not plainly called, or anything of the text is
 * redirected or piped.
 */
export const words = (text: string): ReadonlyArray<Word> => {
  const { tree } = CommandLine.parse(text)
  const pipelines = tree.lists.flatMap((list) => list.pipelines)
  const isPlain = pipelines.every(({ before, commands: [command, ...others] }) => {
    const isSimple = command?.keyword === undefined && command?.redirections.length === 0
    return isSimple && others.length === 0 && before !== "||"
  })
  const isAwaited = CommandTree.isComplete(tree) && tree.lists.every(({ isBackground }) => !isBackground)
  return isPlain && isAwaited ? (pipelines.at(-1)?.commands[0]?.words ?? []) : []
}
