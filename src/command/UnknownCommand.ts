/**
 * Makes the error for a Synapse command that does not exist: which part of its name is unknown, and which names exist.
 *
 * @since 0.1.0
 */
import * as Advice from "../domain/Advice.js"
import { CommandNotFound } from "../domain/CommandError.js"
import * as Similar from "../domain/Similar.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import { builtins } from "./CommandName.js"

/**
 * An unknown name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unknown {
  /** The command that contains the name. */
  readonly command: string
  /** The kind of thing that the name should be: `skill`. */
  readonly kind: string
  /** The plural of `kind`. By default, `kind` with an s. */
  readonly kinds?: string
  readonly name: string
  /** The names that exist. */
  readonly known: ReadonlyArray<string>
  /** Writes a name as it is to be called. */
  readonly toWord?: (name: string) => string
  /** Words that no names exist at all. */
  readonly none?: string | undefined
  /** The advice, which may depend on the calls that were probably meant. */
  readonly advice?: ReadonlyArray<Advice.Advice> | ((near: ReadonlyArray<string>) => ReadonlyArray<Advice.Advice>)
}

const most = 20

/**
 * Makes the error for an unknown name. It lists the nearest names, or else the existing ones.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ advice, command, kind, kinds, known, name, none, toWord }: Unknown): CommandNotFound => {
  const all = kinds ?? `${kind}s`
  const shown = UntrustedText.word(command, 200)
  const within = command.includes(`:${name}`) ? ` (in ${shown})` : ""
  const near = Similar.likely(name, known).map(toWord ?? ((name) => UntrustedText.word(name)))
  const [family] = /^\w+:/.exec(name) ?? []
  const kin = family === undefined ? [] : known.filter((one) => one.startsWith(family))
  const listed = kin.length > 0 ? kin : known
  const there = listed.slice(0, most).map((name) => UntrustedText.word(name))
  return new CommandNotFound({
    command,
    reason:
      `Unknown ${kind}: ${UntrustedText.word(name) || "(no name)"}${within}.` +
      (near.length > 0
        ? ` Did you mean ${either(near)}?`
        : known.length === 0
          ? `\n${none ?? `There are no ${all}.`}`
          : `\nThere are these${kin.length > 0 ? "" : ` ${all}`}: ${there.join(", ")}${listed.length > most ? `, and ${listed.length - most} more` : ""}.`),
    advice: typeof advice === "function" ? advice(near) : (advice ?? [])
  })
}

/** Advises to read the help of the command that was probably meant, if it is only one. */
const helpOf = (near: ReadonlyArray<string>): ReadonlyArray<Advice.Advice> => {
  const [meant, ...others] = near
  // A name with a star stands for several commands.
  return meant === undefined || others.length > 0 || meant.endsWith("*")
    ? []
    : [Advice.line`${help(meant)} shows how to use it.`]
}

const withoutHelpOption = new Set(["[", "test", "true", "false", ":", "echo"])

/**
 * Returns advice on how to show a command's help.
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
 * Makes the error for `mcp:<server>:<tool>` if no such server is configured. It advises to read the help of the server
 * that was meant, or the help of the corrected name.
 *
 * @param options the server's name, if the command does not contain it, and the words if no servers exist
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
 * Makes the error for `skill:<name>` and `skill:<name>:<tool>` if no such skill is installed.
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
