// Makes JSON Schemas for the files that users write, from the schemas that parse them. Runs after the library is built.
import * as fs from "node:fs"
import * as path from "node:path"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"

const dist = path.resolve(import.meta.dirname, "../../dist")
const [{ SandboxFile }, { SettingsFile }, { Written }] = await Promise.all(
  ["sandbox/config/SandboxFile.js", "agent/model/LiveModelProvider.js", "extension/mcp/Definition.js"].map(
    (module) => import(path.join(dist, module))
  )
)

/** @type {Readonly<Record<string, readonly [title: string, schema: Schema.Schema.Any, extra: "allow" | "strict"]>>} */
const files = {
  "sandbox.json": ["What commands of Synapse may read, write and reach", SandboxFile, "strict"],
  "settings.json": ["The models of Synapse's agent", SettingsFile, "strict"],
  "mcp_servers.json": [
    "MCP servers for Synapse",
    Schema.Struct({ mcpServers: Schema.optional(Schema.Record({ key: Schema.String, value: Written })) }),
    "allow"
  ]
}

/**
 * Copies the descriptions of fields to where JSONSchema looks. Of fields with defaults, only the type has them.
 *
 * @param {any} ast
 */
const describe = ({ from, to, types = [] }) => {
  for (const field of from?.propertySignatures ?? []) {
    const same = to.propertySignatures?.find((/** @type {any} */ { name }) => name === field.name)
    Object.assign(field.annotations, same?.annotations)
    describe(field.type)
  }
  for (const type of types) describe(type)
}

fs.mkdirSync(path.join(dist, "schemas"), { recursive: true })
for (const [name, [title, { ast }, additionalPropertiesStrategy]] of Object.entries(files)) {
  /** @type {Record<string, JSONSchema.JsonSchema7>} */
  const definitions = {}
  describe(ast)
  const schema = JSONSchema.fromAST(ast, { definitions, additionalPropertiesStrategy })
  const $defs = Object.keys(definitions).length === 0 ? {} : { $defs: definitions }
  const whole = { $schema: "http://json-schema.org/draft-07/schema#", title, ...schema, ...$defs }
  fs.writeFileSync(path.join(dist, "schemas", name), `${JSON.stringify(whole, undefined, 2)}\n`)
}
