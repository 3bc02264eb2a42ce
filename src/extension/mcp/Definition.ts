/** The definition of an MCP server, as written under `mcpServers`. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Quote from "../../bash/Quote.js"
import * as JsonText from "../../domain/JsonText.js"
import * as UntrustedText from "../../domain/UntrustedText.js"

const Texts = Schema.Record({ key: Schema.String, value: Schema.String })

export const Written = Schema.Struct({
  type: Schema.optional(Schema.String).annotations({ description: "`stdio` or `http`; told by `command` and `url`" }),
  disabled: Schema.optional(Schema.Boolean).annotations({ description: "`true` leaves the server out" }),
  command: Schema.optional(Schema.String).annotations({ description: "the program that is the server" }),
  args: Schema.optional(Schema.Array(Schema.String)).annotations({ description: "its words" }),
  env: Schema.optional(Texts).annotations({ description: "its variables" }),
  cwd: Schema.optional(Schema.String).annotations({ description: "the directory that it starts in" }),
  url: Schema.optional(Schema.String).annotations({ description: "the address of a server over HTTP" }),
  headers: Schema.optional(Texts).annotations({ description: "headers of each request" })
})

const keys = new Set(Object.keys(Written.fields))
const decodeWritten = Schema.decodeUnknownEither(Written)

/** A definition before its variables are expanded. */
export type Definition = Data.TaggedEnum<{
  Stdio: {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string | undefined
  }
  Http: { readonly url: string; readonly headers: Readonly<Record<string, string>> }
}>

export const Definition = Data.taggedEnum<Definition>()

/** A definition, and what else its entry says. */
export interface Decoded {
  readonly definition: Definition
  readonly isDisabled: boolean
  /** Keys without effect. */
  readonly ignored: ReadonlyArray<string>
}

/** The most characters of a message, or of a server's command line. */
const longest = 600

const http = /^(?:streamable-?)?http$/i

/** Returns why a transport does not match the rest of the definition. */
const mismatch = (type: string | undefined, isProgram: boolean): string | undefined => {
  if (type === undefined || (isProgram ? /^stdio$/i : http).test(type)) return undefined
  if (/^sse$/i.test(type)) return "its type is sse, which is not supported: give the server's streamable HTTP address"
  const shown = UntrustedText.word(JSON.stringify(type))
  return `its type is ${shown}, and ${isProgram ? "a command goes with stdio" : "a url goes with http"}`
}

/** Decodes a definition, or says on the left what is wrong with it. */
export const decode = (value: unknown): Either.Either<Decoded, string> =>
  Either.gen(function* () {
    if (!Predicate.isReadonlyRecord(value)) return yield* Either.left("it is no object")
    const written = yield* Either.mapLeft(decodeWritten(value), firstIssue)
    const { args = [], command, cwd, disabled: isDisabled = false, env = {}, headers = {}, type, url } = written
    if (command !== undefined && url !== undefined)
      return yield* Either.left("it has a command and a url, which exclude each other")
    const wrong = mismatch(type, command !== undefined)
    if (wrong !== undefined && (command ?? url) !== undefined) return yield* Either.left(wrong)
    if (command?.trim() === "") return yield* Either.left("its command is empty")
    const useless = command === undefined ? ["args", "env", "cwd"] : ["headers"]
    const ignored = Object.keys(value).filter((key) => !keys.has(key) || useless.includes(key))
    if (command !== undefined) return { definition: Definition.Stdio({ command, args, env, cwd }), isDisabled, ignored }
    if (url === undefined) return yield* Either.left("it has neither a command nor a url")
    return { definition: Definition.Http({ url, headers }), isDisabled, ignored }
  })

const firstIssue = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  return `${UntrustedText.word(JsonText.showPath(issue?.path ?? []), 200)}: ${UntrustedText.word(issue?.message ?? error.message, longest)}`
}

/** Writes a definition for a file, without empty fields. */
export const encode = ({ _tag, ...fields }: Definition): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value === "" || Object.keys(value ?? {}).length > 0))

/**
 * Replaces the secrets in an address: the password and the values of the query. Keeps text that a shell or an
 * interpreter would run, and any other text.
 */
export const withoutSecrets = (text: string): string =>
  /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text)
    ? text
        .replace(/^([a-z][a-z0-9+.-]*:\/\/)[\w.~%+,:=-]*@/i, "$1…@")
        .replace(/([?&][\w.~%-]*=)[\w.~%+/:,=@-]+/g, "$1…")
    : text

/** Matches the names of options whose values are secret. */
const secret = /key|token|secret|passw|credential|auth|cookie/i

/** Replaces the secrets in a program's arguments: in addresses, and in the values of options with such names. */
const wordsWithoutSecrets = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args.map((word, at) => {
    const before = args[at - 1] ?? ""
    if (/^-{1,2}[\w-]+$/.test(before) && secret.test(before) && !/^-|\$\{/.test(word)) return "…"
    const [, name = "", value = ""] = /^(-{0,2}[\w-]+=)(.+)$/s.exec(word) ?? []
    return secret.test(name) && !value.includes("${") ? `${name}…` : withoutSecrets(word)
  })

/** Shows the program with its arguments, or the address, on one line and with variables unexpanded. */
export const target = Definition.$match({
  Stdio: ({ args, command }) =>
    UntrustedText.word(
      [
        Quote.word(command),
        ...wordsWithoutSecrets(args).map((word, at) => (word === args[at] ? Quote.word(word) : word))
      ].join(" "),
      longest
    ),
  Http: ({ url }) => UntrustedText.word(withoutSecrets(url), longest)
})

/** Returns all texts of a definition in which variables are expanded. */
export const textsOf = ({ _tag, ...fields }: Definition): ReadonlyArray<string> =>
  Object.values(fields).flatMap((value) => (typeof value === "string" ? value : Object.values(value ?? {})))
