/**
 * Makes of a server's definition what can be started or spoken to: expands its variables, and checks what they yield.
 */
import * as Path from "node:path"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ForeignText from "../../../domain/ForeignText.js"
import { Definition } from "../Definition.js"
import * as Variables from "../Variables.js"

/** A definition whose variables are expanded; `cwd` is absolute. */
export type Expanded = Data.TaggedEnum<{
  Stdio: {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string
  }
  Http: { readonly url: string; readonly headers: Readonly<Record<string, string>> }
}>

/** Makes what can be started or spoken to, and takes it apart with `$match`. */
export const Expanded = Data.taggedEnum<Expanded>()

/** The places and variables that definitions are read with. */
export interface Places {
  readonly variables: Variables.Variables
  /** The directory that `~` stands for. */
  readonly userHome: string
  /** The working directory, which a relative `cwd` is relative to. */
  readonly root: string
}

/** Collects the first reason why something can't be used. */
class Problems {
  first: string | undefined
  say(at: string, reason: string): void {
    this.first ??= `${ForeignText.word(at, 200)}: ${reason}`
  }
}

const header = /^[!#$%&'*+.^_`|~\w-]+$/

/**
 * Expands a definition; on the left is the reason why it can't be used, which holds no value of a variable.
 *
 * @param directory the directory that a program is started in where the definition names none
 */
export const make = (definition: Definition, places: Places, directory: string): Either.Either<Expanded, string> => {
  const problems = new Problems()
  const text = (written: string, at: string): string =>
    Either.match(Variables.expand(written, places.variables), {
      onLeft: (reason) => {
        problems.say(at, reason)
        return ""
      },
      onRight: (expanded) => {
        if (expanded.includes("\0")) problems.say(at, "it holds a NUL, which no program can be given")
        return expanded
      }
    })
  const texts = (written: Readonly<Record<string, string>>, at: string): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(written).map(([name, value]) => [name, text(value, `${at}.${name}`)]))

  const expanded = Definition.$match(definition, {
    Stdio: ({ args, command, cwd, env }): Expanded => {
      const wrong = Object.keys(env).find((name) => !/^[^=\0]+$/.test(name))
      if (wrong !== undefined)
        problems.say("env", `${ForeignText.word(JSON.stringify(wrong))} can't be a variable's name`)
      const from = cwd === undefined ? directory : text(cwd, "cwd").replace(/^~(?=\/|$)/, () => places.userHome)
      const program = text(command, "command")
      if (program.trim() === "") problems.say("command", "it is empty")
      return Expanded.Stdio({
        command: program,
        args: args.map((word, at) => text(word, `args[${at}]`)),
        env: texts(env, "env"),
        cwd: Path.resolve(places.root, from)
      })
    },
    Http: (written) => {
      const url = text(written.url, "url")
      const headers = texts(written.headers, "headers")
      for (const [name, value] of Object.entries(headers)) {
        if (!header.test(name))
          problems.say("headers", `${ForeignText.word(JSON.stringify(name))} can't be a header's name`)
        if (/[\0-\x08\n-\x1f\x7f]|[^\0-\xff]/.test(value)) {
          problems.say(`headers.${name}`, "it holds a character that no header may hold")
        }
      }
      const reason = URL.canParse(url) ? flawOf(new URL(url)) : "it is no address"
      if (reason !== undefined) problems.say("url", reason)
      return Expanded.Http({ url, headers })
    }
  })
  return problems.first === undefined ? Either.right(expanded) : Either.left(problems.first)
}

const flawOf = ({ password, protocol, username }: URL): string | undefined => {
  if (protocol !== "http:" && protocol !== "https:") return "it is no http or https address"
  return username + password === "" ? undefined : "it holds a user or a password, whose place is in headers"
}
