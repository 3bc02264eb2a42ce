/** `write <file> <content>`: replaces the content of a file. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as ShellText from "../../bash/ShellText.js"
import * as CommandGrammar from "../../command/CommandGrammar.js"
import type { CommandHandler } from "../../command/CommandHandler.js"
import * as Parameter from "../../command/Parameter.js"
import * as CommandResult from "../../domain/CommandResult.js"
import * as FileFailure from "../../files/FileFailure.js"
import type { FileError } from "../../files/Files.js"
import * as Newlines from "../../files/Newlines.js"

const help = `write - write a file

USAGE
  write <file> <content>
  write <file> <<'EOF'
  <command> | write <file>

ARGUMENTS
  <file>     The file, from the current directory. Directories that are missing on the way to it are made. What was in
             the file is replaced, all at once or not at all; its mode and owner stay, a symbolic link stays one.
             Where the file has several names (hard links), the directory can not be written, or the owner can not be
             kept, the file is overwritten in place, from a copy that is complete.
  <content>  What the file holds afterwards, byte for byte as bash passes it: nothing is decoded, no newline is added.
             '' makes the file empty. Without this argument, standard input is the content; with it, nobody reads that.

OPTIONS
  --         What follows is no option: a content that begins with a dash and is one word.

EXAMPLES
  write notes.txt 'one line without a newline at its end'
  write src/new/file.ts <<'EOF'
  const price = "$5"   // between 'EOF' and EOF, nothing is expanded and nothing needs to be quoted
  EOF
  curl -s https://example.com/data.json | write data/out.json
  write list.txt -- --dashed

EXIT CODE
  0 where all of it was written. 1 where nothing was: no content, a directory, no right to write.
  126 where the sandbox's policy denies it.
`

export const grammar = CommandGrammar.make({
  name: "write",
  summary: "Writes a file whole, new or not; without <content>, what comes on standard input.",
  usage: "write <file> <content>",
  help,
  config: {
    file: Parameter.operand("file"),
    content: Parameter.operand("content").pipe(Parameter.optional)
  }
})

/** Makes the handler of `write`. It streams standard input, and does not read it if the content is an argument. */
export const make: Effect.Effect<CommandHandler> = Effect.sync(() => {
  const handler = CommandGrammar.toHandler(
    grammar,
    Effect.fnUntraced(function* ({ content, file }, { files, stdin }) {
      const source = Option.isSome(content) ? ShellText.encode(content.value) : stdin
      if (source === undefined) return yield* withoutContent()
      let [bytes, lines, isInLine] = [0, 0, false]
      const counting = Stream.map(source instanceof Uint8Array ? Stream.make(source) : source, (chunk) => {
        bytes += chunk.length
        lines += Newlines.count(chunk)
        if (chunk.length > 0) isInLine = chunk[chunk.length - 1] !== 0x0a
        return chunk
      })
      yield* Effect.catchTag(files.write(file, counting), "FileError", failed)
      // A last line without a newline counts.
      const stdout = `Written ${counted(bytes, "byte")} (${counted(lines + (isInLine ? 1 : 0), "line")}) to ${FileFailure.printable(file)}\n`
      return CommandResult.make({ stdout })
    }),
    { usesFiles: true }
  )
  const run: CommandHandler["run"] = (call, options) =>
    /^(?:-a|--append)$/.test(call.args[0] ?? "")
      ? CommandGrammar.misuse(grammar, "it writes a file whole; >> appends to one.", [
          ["cat >> notes.txt <<'EOF'", "any number of lines", "EOF"]
        ])
      : handler.run(call, options)
  return { ...handler, run }
})

const withoutContent = () =>
  CommandGrammar.misuse(grammar, "<content> is missing, and nothing comes on standard input; nothing was written.", [
    ["write notes.txt 'one line'"],
    ["write notes.txt <<'EOF'", "any number of lines", "EOF"]
  ])

const failed = (error: FileError) => {
  const { kind, path, reason } = error
  return FileFailure.make("write", path, kind === "directory" ? `not a writable file: ${reason}` : reason, {
    cause: error
  })
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
