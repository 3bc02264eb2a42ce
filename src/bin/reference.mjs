// Writes the API reference of each module that the package exports, from the docstrings. Runs after the library is built.
import * as fs from "node:fs"
import * as path from "node:path"
import ts from "typescript"

const root = path.resolve(import.meta.dirname, "../..")
const { exports: exported, name: packageName } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))

/** @param {string} file */
const parse = (file) => ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)

/** @param {ts.Statement} statement */
const nameOf = (statement) =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations[0]?.name.getText()
    : /** @type {ts.DeclarationStatement} */ (statement).name?.text

/**
 * Finds the statements that declare what a file exports, or those of some names.
 *
 * @param {string} file
 * @param {ReadonlySet<string>} [names]
 * @returns {ReadonlyArray<ts.Statement>}
 */
const declared = (file, names) =>
  parse(file).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      const { exportClause, moduleSpecifier } = statement
      if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return []
      const wanted = exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
      const from = path.join(path.dirname(file), moduleSpecifier.text.replace(/\.js$/, ".d.ts"))
      return declared(from, new Set(wanted))
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    return isExported && (names === undefined || names.has(nameOf(statement) ?? "")) ? [statement] : []
  })

/**
 * Reads a docstring: its text, and the texts of its tags.
 *
 * @param {string} comment
 */
const docOf = (comment) => {
  const [text = "", ...tags] = comment
    .replace(/^\/\*\*|\*\/$/g, "")
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .split(/^@(?=\w)/m)
    .map((part) => part.trim())
  const tag = (/** @type {string} */ name) =>
    tags.filter((tag) => tag.startsWith(name)).map((tag) => tag.slice(name.length).trim())
  return { text, category: tag("category")[0], params: tag("param"), examples: tag("example") }
}

/** @param {ts.Statement} statement */
const entryOf = (statement) => {
  const source = statement.getSourceFile()
  const name = nameOf(statement)
  const [comment] = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc)
  const doc = docOf(comment?.getText() ?? "")
  // The interface of a service is in the class that it extends.
  const base = source.statements.find((other) => nameOf(other) === `${name}_base`)
  const code = [base, statement].flatMap((part) => part?.getText().replace(/^(?:export )?(?:declare )?/, "") ?? [])
  const params = doc.params.map((param) => `- ${param.replace(/^(\w+)/, "`$1`:")}`).join("\n")
  const parts = [`### ${name}`, doc.text, params, `\`\`\`ts\n${code.join("\n")}\n\`\`\``, ...doc.examples]
  return { category: doc.category, text: parts.filter((part) => part !== "").join("\n\n") }
}

const to = path.join(root, "dist/reference")
fs.rmSync(to, { recursive: true, force: true })
fs.mkdirSync(to)
const pages = Object.entries(exported).flatMap(([key, target]) => {
  const file = typeof target === "string" ? target : target.import.types
  if (key === "." || !/\.(?:js|d\.ts)$/.test(file)) return []
  const types = path.join(root, file.replace(/\.js$/, ".d.ts"))
  // The build drops the comments before some imports.
  const source = fs.readFileSync(types.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts"), "utf8")
  const about = docOf(/^(?:\/\/\/.*\n)?(\/\*\*[\s\S]*?\*\/)/.exec(source)?.[1] ?? "").text
  // What has no category is for the package's own modules; the Promise face lists its types.
  const entries = declared(types)
    .map(entryOf)
    .flatMap(({ category = key === "./promise" ? "types" : undefined, text }) =>
      category === undefined ? [] : [{ category, text }]
    )
  const categories = Array.from(new Set(entries.map(({ category }) => category)), (category) => {
    const texts = entries.flatMap((entry) => (entry.category === category ? [entry.text] : []))
    return [`## ${category}`, ...texts].join("\n\n")
  })
  const name = key.slice(2)
  fs.writeFileSync(path.join(to, `${name}.md`), [`# ${packageName}/${name}`, about, ...categories, ""].join("\n\n"))
  return [{ name, about: about.split("\n\n")[0]?.replaceAll("\n", " ") }]
})
const list = pages.map(({ about, name }) => `- [${name}](${name}.md): ${about}`).join("\n")
fs.writeFileSync(path.join(to, "README.md"), `# Reference\n\n${list}\n`)
