/** Reads the servers that other programs are configured with. */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type { ParseError } from "jsonc-parser"
import { getNodeValue, parseTree } from "jsonc-parser"
import * as ForeignText from "../../../domain/ForeignText.js"
import * as Definition from "../Definition.js"
import * as ServerName from "../ServerName.js"

/**
 * The way in which servers are written: under `mcpServers`; in Claude Code's own file, where each project has some as well; under
 * `servers`, as VS Code has them; in Codex's TOML.
 */
export type Format = "mcpServers" | "claude" | "vscode" | "codex"

/** The servers of a file: by name what each is, or the reason why it can't be taken over. */
export type Servers = ReadonlyMap<string, Either.Either<Definition.Definition, string>>

type Fields = { readonly [key: string]: unknown }

const fieldsOf = (value: unknown): Fields => (Predicate.isReadonlyRecord(value) ? value : {})
const own = (value: unknown, key: string): unknown => {
  const fields = fieldsOf(value)
  return Object.hasOwn(fields, key) ? fields[key] : undefined
}

/** Writes what editors write as `${env:NAME}` as we do. */
const withVariables = (value: unknown, workspace: string): unknown => {
  if (typeof value === "string") {
    return value
      .replace(/\$\{env:([A-Za-z_]\w*)\}/g, "${$1}")
      .replace(/\$\{userHome\}/g, "${HOME}")
      .replace(/\$\{workspaceFolder\}/g, () => workspace)
  }
  if (Array.isArray(value)) return value.map((one) => withVariables(one, workspace))
  if (!Predicate.isReadonlyRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withVariables(one, workspace)]))
}

const editorOnly = /\$\{[A-Za-z]+:(?!-)[^}]*\}/

/** Writes Codex's names for headers, and where their values come from, as headers. */
const codexHeaders = (server: Fields): Fields => {
  const { bearer_token_env_var: bearer, enabled, env_http_headers, http_headers, ...rest } = server
  const headers = {
    ...fieldsOf(http_headers),
    ...Object.fromEntries(
      Object.entries(fieldsOf(env_http_headers)).map(([name, variable]) => [name, `\${${String(variable)}}`])
    ),
    ...(typeof bearer === "string" ? { Authorization: `Bearer \${${bearer}}` } : {})
  }
  const isDisabled = enabled === false ? { disabled: true } : {}
  return { ...rest, ...isDisabled, ...(Object.keys(headers).length === 0 ? {} : { headers }) }
}

const definitionOf = (
  name: string,
  written: unknown,
  format: Format,
  workspace: string
): Either.Either<Definition.Definition, string> => {
  const refusal = ServerName.refusal(name)
  if (refusal !== undefined) return Either.left(refusal)
  if (!Predicate.isReadonlyRecord(written)) return Either.left("it is no object")
  const value = fieldsOf(withVariables(format === "codex" ? codexHeaders(written) : written, workspace))
  if (value["envFile"] !== undefined)
    return Either.left("its variables are in a file (envFile), which is not read here")
  return Either.flatMap(Definition.decode(value), ({ definition, isDisabled }) => {
    const editors = Definition.textsOf(definition).flatMap((text) => editorOnly.exec(text)?.[0] ?? [])[0]
    if (editors !== undefined) return Either.left(`${ForeignText.word(editors)} is filled in by its editor only`)
    return isDisabled ? Either.left("it is disabled there") : Either.right(definition)
  })
}

/** Returns the first key of a file that should hold servers, and does not. */
const misshapen = (content: unknown, format: Format): string | undefined => {
  const keys = format === "codex" ? ["mcp_servers"] : format === "vscode" ? ["servers", "mcpServers"] : ["mcpServers"]
  return keys.find((key) => {
    const value = own(content, key)
    return value !== undefined && value !== null && !Predicate.isReadonlyRecord(value)
  })
}

const serversIn = (content: unknown, format: Format, workspace: string): Fields => {
  if (format === "codex") return fieldsOf(own(content, "mcp_servers"))
  if (format === "vscode") return { ...fieldsOf(own(content, "servers")), ...fieldsOf(own(content, "mcpServers")) }
  const global = fieldsOf(own(content, "mcpServers"))
  if (format === "mcpServers") return global
  return { ...global, ...fieldsOf(own(own(own(content, "projects"), workspace), "mcpServers")) }
}

const parsedJson = (text: string): Either.Either<unknown, string> => {
  const errors: Array<ParseError> = []
  // Unlike `parse`, the values of a tree keep what is called __proto__.
  const tree = parseTree(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true })
  return errors.length === 0 && tree !== undefined ? Either.right(getNodeValue(tree)) : Either.left("it is no JSON")
}

/** Loads the parser of TOML, which only this needs. */
const parsedToml = async (text: string): Promise<Either.Either<unknown, string>> => {
  const { parse } = await import("smol-toml")
  return Either.try({ try: (): unknown => parse(text), catch: () => "it is no TOML" })
}

/**
 * Reads a file's text; on the left is the reason why it has no servers that can be read.
 *
 * @param workspace the working directory, which an editor's `${workspaceFolder}` stands for
 */
export const parse = async (
  text: string,
  format: Format,
  workspace: string
): Promise<Either.Either<Servers, string>> => {
  const parsed = format === "codex" ? await parsedToml(text) : parsedJson(text)
  return Either.flatMap(parsed, (content) => {
    const wrong = misshapen(content, format)
    if (wrong !== undefined) return Either.left(`its ${wrong} is no object`)
    const servers = Object.entries(serversIn(content, format, workspace))
    return Either.right(
      new Map(servers.map(([name, written]) => [name, definitionOf(name, written, format, workspace)]))
    )
  })
}
