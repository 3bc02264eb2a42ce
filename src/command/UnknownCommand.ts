/**
 * Makes the error for a command of ours that does not exist: which part of its name is unknown, and which names there
 * are.
 *
 * @since 0.1.0
 */
import * as Advice from "../domain/Advice.js"
import { CommandNotFound } from "../domain/CommandError.js"
import * as Similar from "../domain/Similar.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import { builtins } from "./CommandName.js"

/**
 * A name that nothing has.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unknown {
  /** The command that named it. */
  readonly command: string
  /** The kind of thing that was looked for: `skill`. */
  readonly kind: string
  /** The plural of `kind`; `kind` with an s by default. */
  readonly kinds?: string
  readonly name: string
  /** The names that there are. */
  readonly known: ReadonlyArray<string>
  /** Writes a name as it is to be called. */
  readonly toWord?: (name: string) => string
  /** Says that there are no names at all. */
  readonly none?: string | undefined
  /** The advice, none by default; where it depends on it, for the calls that were probably meant. */
  readonly advice?: ReadonlyArray<Advice.Advice> | ((near: ReadonlyArray<string>) => ReadonlyArray<Advice.Advice>)
}

/** The most names that are listed. */
const most = 20

/**
 * Makes the error for a name that nothing has: it tells the nearest names, or else those that there are.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ advice, command, kind, kinds, known, name, none, toWord }: Unknown): CommandNotFound => {
  const all = kinds ?? `${kind}s`
  const shown = UntrustedText.word(command, 200)
  const within = command.includes(`:${name}`) ? ` (in ${shown})` : ""
  const near = Similar.likely(name, known).map(toWord ?? ((name) => UntrustedText.word(name)))
  const there = known.slice(0, most).map((name) => UntrustedText.word(name))
  return new CommandNotFound({
    command,
    reason:
      `Unknown ${kind}: ${UntrustedText.word(name) || "(no name)"}${within}.` +
      (near.length > 0
        ? ` Did you mean ${either(near)}?`
        : known.length === 0
          ? `\n${none ?? `There are no ${all}.`}`
          : `\nThere are these ${all}: ${there.join(", ")}${known.length > most ? `, and ${known.length - most} more` : ""}.`),
    advice: typeof advice === "function" ? advice(near) : (advice ?? [])
  })
}

/** Advises to look at the help of the one command that was probably meant; none where it is not one. */
const helpOf = (near: ReadonlyArray<string>): ReadonlyArray<Advice.Advice> => {
  const [meant, ...others] = near
  // A name with a star stands for several commands, and is none itself.
  return meant === undefined || others.length > 0 || meant.endsWith("*")
    ? []
    : [Advice.line`${help(meant)} shows how to use it.`]
}

/** Builtins of bash that take `--help` as an argument like any other. */
const withoutHelpOption = new Set(["[", "test", "true", "false", ":", "echo"])

/**
 * Returns the commands that show a command's help.
 *
 * @since 0.1.0
 */
export const help = (name: string): Advice.Advice => {
  const option = Advice.run(`${name} --help`)
  return builtins.has(name) && withoutHelpOption.has(name)
    ? Advice.line`${Advice.run(`help ${name}`)} (for the program of that name, ${option})`
    : [option]
}

const either = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`

/**
 * Makes the error for `mcp:<server>:<tool>` where no such server is configured. It advises to look at the help of the one
 * that was meant, or of the whole name once it is right (S17).
 *
 * @param options its name, where the command does not have it, and what says that there are no servers at all
 * @since 0.1.0
 * @category constructors
 */
export const mcpServer = (
  command: string,
  servers: ReadonlyArray<string>,
  {
    advice = [],
    name = part(command, 1),
    none
  }: Partial<Pick<Unknown, "name" | "none">> & { readonly advice?: ReadonlyArray<Advice.Advice> } = {}
): CommandNotFound => {
  const usage = help(UntrustedText.word(command, 200))
  const correct =
    servers.length === 0
      ? [Advice.line`Once it is there, ${usage} shows how to use it.`]
      : [
          Advice.line`Hint: correct the name; ${usage} then shows how to use it.`,
          Advice.line`${Advice.run("command:search")} lists what there is.`
        ]
  return make({
    command,
    kind: "MCP server",
    name,
    known: servers,
    toWord: (server) => UntrustedText.word(`mcp:${server}${command.slice("mcp:".length + name.length)}`, 200),
    none,
    advice: (near) => [...(near.length > 0 ? helpOf(near) : correct), ...advice]
  })
}

/**
 * Makes the error for `skill:<name>` and `skill:<name>:<tool>` where no such skill is installed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const skill = (command: string, skills: ReadonlyArray<string>): CommandNotFound =>
  make({ command, kind: "skill", name: part(command, 1), known: skills })

/**
 * Makes the error for any other reserved name: `task:<type>`, `TodoWrite`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const command = (name: string, commands: ReadonlyArray<string>): CommandNotFound =>
  make({
    command: name,
    kind: "command",
    kinds: "commands besides the shell's own",
    name,
    known: commands,
    advice: helpOf
  })

/**
 * Makes the error for a reserved name of any kind.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (name: string, commands: ReadonlyArray<string>): CommandNotFound =>
  name.startsWith("mcp:") ? mcpServer(name, []) : name.startsWith("skill:") ? skill(name, []) : command(name, commands)

const part = (command: string, index: number): string => command.split(":")[index] ?? ""
