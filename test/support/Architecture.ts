/**
 * The rules of the architecture, as a function from sources to the violations that they hold.
 *
 * Floors: a room imports from rooms below it only, and never from its neighbours. The same holds for the rooms within a
 * room. Root files of `src` stand outside: they may import any room, no room imports them, and they alone may run an
 * Effect, for they are where Synapse meets the world.
 */
import * as path from "node:path"
import * as ts from "typescript"
import * as Docstring from "./Docstring.js"

/** From the street down; rooms on one line are neighbours. A dot stands for the files that lie in the room itself. */
type Floors = ReadonlyArray<ReadonlyArray<string>>

/** The floors of `src` (under the empty name), and of each room that has rooms of its own. */
export const floors: Readonly<Record<string, Floors>> = {
  "": [
    ["."],
    ["adapter"],
    ["cli", "promise"],
    ["terminal", "agent", "serve"],
    ["toolset"],
    ["router"],
    ["commands"],
    ["extension"],
    ["sandbox"],
    ["bridge"],
    ["session"],
    ["command"],
    ["files"],
    ["bash"],
    ["domain"]
  ],
  cli: [["."], ["shell"]],
  agent: [["."], ["transcript"], ["loop"], ["model"]],
  commands: [["bash", "edit", "job", "mcp", "read", "search", "skill", "task", "todo", "write"]],
  extension: [["."], ["mcp", "skill"]],
  sandbox: [["."], ["permission"], ["denial"], ["network"], ["platform"], ["config"], ["policy"]],
  "sandbox/platform": [["linux", "macos"], ["."]],
  "sandbox/platform/linux": [["."], ["live"], ["check"], ["start"], ["plan"]]
}

interface Import {
  /** Undefined where it is not a literal. */
  readonly from: string | undefined
  readonly kind: "value" | "type" | "reexport" | "dynamic"
  readonly names: ReadonlyArray<string>
  readonly namespace: string | undefined
  readonly line: number
}

const textOf = (node: ts.Node | undefined): string | undefined =>
  node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined

const namesOf = (bindings: ts.NamedImportBindings | undefined): ReadonlyArray<string> =>
  bindings !== undefined && ts.isNamedImports(bindings)
    ? bindings.elements
        .filter((element) => !element.isTypeOnly)
        .map((element) => (element.propertyName ?? element.name).text)
    : []

const importOf = (node: ts.Node): Omit<Import, "line"> | undefined => {
  const none = { names: [], namespace: undefined }
  if (ts.isImportDeclaration(node)) {
    const bindings = node.importClause?.namedBindings
    const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    return {
      from: textOf(node.moduleSpecifier),
      kind: isType ? "type" : "value",
      names: [...(node.importClause?.name === undefined ? [] : ["default"]), ...namesOf(bindings)],
      namespace: bindings !== undefined && ts.isNamespaceImport(bindings) ? bindings.name.text : undefined
    }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    return { ...none, from: textOf(node.moduleSpecifier), kind: "reexport" }
  }
  if (ts.isImportTypeNode(node)) {
    const literal = ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined
    return { ...none, from: textOf(literal), kind: "type" }
  }
  if (ts.isExternalModuleReference(node)) return { ...none, from: textOf(node.expression), kind: "dynamic" }
  if (!ts.isCallExpression(node)) return undefined
  const called = node.expression
  const imports = called.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(called) && called.text === "require")
  return imports ? { ...none, from: textOf(node.arguments[0]), kind: "dynamic" } : undefined
}

const runners = new Map([
  ["effect/Effect", /^(unsafe)?run(Promise|Sync|Fork|Callback)/],
  ["effect/ManagedRuntime", /^make$/],
  ["effect/Runtime", /^defaultRuntime$/],
  ["@effect/platform/Runtime", /^makeRunMain$/],
  ["@effect/platform-node/NodeRuntime", /^runMain$/]
])

const isFunctionModule = (from: string): boolean => /^effect\/(Function|Predicate|GlobalValue)$/.test(from)

/** The rooms that a path under `src` lies in, from the street: `["sandbox", "policy"]`; none for a root file. */
const roomsOf = (file: string): ReadonlyArray<string> =>
  file
    .split("/")
    .slice(0, -1)
    .filter((room, at, rooms) => room !== "internal" || at !== rooms.length - 1)

/** A room is entered by its doors: only the room itself, and the rooms in it, import from its `internal` folder. */
const checkDoors = (file: string, target: string): string | undefined => {
  const [room, hidden] = target.split("/internal/")
  return hidden === undefined || file.startsWith(`${room}/`) ? undefined : `imports ${target}, which is internal`
}

const floorOf = (folder: Floors, room: string): number => folder.findIndex((rooms) => rooms.includes(room))

/** The first room of the file's that no floor of its folder has. */
const unplaced = (file: string): string | undefined => {
  const rooms = roomsOf(file)
  for (let depth = 0; depth <= rooms.length; depth++) {
    const folder = floors[rooms.slice(0, depth).join("/")]
    const here = rooms[depth] ?? "."
    if (folder === undefined ? here !== "." : floorOf(folder, here) < 0)
      return `${rooms.slice(0, depth + 1).join("/")}/`
  }
  return undefined
}

const checkFloors = (file: string, target: string): string | undefined => {
  const [here, there] = [roomsOf(file), roomsOf(target)]
  if (target.startsWith("../")) return `imports ${target}, which lies outside of src`
  if (target === "bin.ts") return "imports bin.ts, which runs when it is imported"
  if (here.length === 0) return undefined
  if (there.length === 0) return `imports the root file ${target}`
  if (unplaced(target) !== undefined) return `imports ${target}, whose room has no floor`
  let depth = 0
  while (depth < here.length && here[depth] === there[depth]) depth++
  if (depth === here.length && depth === there.length) return undefined
  const folder = floors[here.slice(0, depth).join("/")] ?? []
  const [from, to] = [floorOf(folder, here[depth] ?? "."), floorOf(folder, there[depth] ?? ".")]
  if (from === to) return `imports sideways, ${target}`
  return from > to ? `imports upwards, ${target}` : undefined
}

const checkPackage = ({ from, kind, names }: Import): string | undefined => {
  if (from === undefined) return "imports something that only shows when it runs"
  if (from === "synapse-shell" || from.startsWith("synapse-shell/")) return "imports its own package by name"
  if (from === "effect" || /^@effect\/[^/]+$/.test(from)) return `imports the barrel ${from}`
  if (!/^(effect|@effect\/[^/]+)\//.test(from)) return undefined
  if (kind === "value" && names.length > 0 && !isFunctionModule(from))
    return `imports ${names.join(", ")} from ${from}: import the namespace`
  return undefined
}

const isProcess = (node: ts.Node): boolean =>
  (ts.isIdentifier(node) && node.text === "process") ||
  (ts.isPropertyAccessExpression(node) && node.name.text === "process")

const readsEnvironment = (node: ts.Node): boolean => {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === "env" && isProcess(node.expression)
  if (ts.isElementAccessExpression(node)) return textOf(node.argumentExpression) === "env" && isProcess(node.expression)
  if (!ts.isVariableDeclaration(node) || node.initializer === undefined || !isProcess(node.initializer)) return false
  return (
    ts.isObjectBindingPattern(node.name) &&
    node.name.elements.some(({ name, propertyName }) => (propertyName ?? name).getText() === "env")
  )
}

const isEmptyCollection = (node: ts.Expression | undefined): boolean =>
  node !== undefined &&
  ts.isNewExpression(node) &&
  /^(Weak)?(Map|Set)$/.test(node.expression.getText()) &&
  (node.arguments?.length ?? 0) === 0

const holdsState = (statement: ts.Statement): boolean =>
  ts.isVariableStatement(statement) &&
  ((statement.declarationList.flags & ts.NodeFlags.Const) === 0 ||
    statement.declarationList.declarations.some((declaration) => isEmptyCollection(declaration.initializer)))

/** `index.ts` is the public face and nothing else: `export * as X from "./…/X.js"`, sorted. */
const checkIndex = (source: ts.SourceFile): ReadonlyArray<string> => {
  const names = source.statements.map((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return undefined
    if (!ts.isNamespaceExport(statement.exportClause)) return undefined
    const name = statement.exportClause.name.text
    return path.basename(textOf(statement.moduleSpecifier) ?? "", ".js") === name ? name : undefined
  })
  if (names.includes(undefined)) return ['index.ts: holds something else than `export * as X from "./…/X.js"`']
  return names.join() === names.toSorted().join() ? [] : ["index.ts: is not sorted"]
}

const checkFile = (file: string, text: string, isPublic: boolean): ReadonlyArray<string> => {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const isRoot = roomsOf(file).length === 0
  const nowhere = unplaced(file)
  const found: Array<string> = []
  const at = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
  const say = (line: number, what: string | undefined) => what !== undefined && found.push(`${file}:${line}: ${what}`)

  if (nowhere !== undefined) say(1, `lies in ${nowhere}, which has no floor`)
  if (/(^|\/)(utils?|helpers?|types?|common|shared|misc)(\/|\.)/i.test(file)) say(1, "has a name that says nothing")

  const imports: Array<Import> = []
  const collect = (node: ts.Node): void => {
    const found = importOf(node)
    if (found !== undefined) imports.push({ ...found, line: at(node) })
    ts.forEachChild(node, collect)
  }
  collect(source)
  for (const each of imports) {
    const relative = each.from?.startsWith(".") === true
    const target = relative ? path.posix.join(path.posix.dirname(file), each.from ?? "").replace(/\.js$/, ".ts") : ""
    say(each.line, relative ? (checkFloors(file, target) ?? checkDoors(file, target)) : checkPackage(each))
  }

  const runnerOf = new Map(
    imports.flatMap(({ from, namespace }) => {
      const names = runners.get(from ?? "")
      return names === undefined || namespace === undefined ? [] : [[namespace, names] as const]
    })
  )
  const mayReadEnvironment = file === "bin.ts" || /(Settings|Environment)\.ts$/.test(file)
  const walk = (node: ts.Node): void => {
    if (!isRoot && ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      if (runnerOf.get(node.expression.text)?.test(node.name.text) === true)
        say(at(node), "runs an Effect, which only root files may")
    }
    if (!mayReadEnvironment && readsEnvironment(node)) say(at(node), "reads the environment, which only settings may")
    ts.forEachChild(node, walk)
  }
  walk(source)
  for (const { from, names, line } of imports) {
    if (!mayReadEnvironment && /^(node:)?process$/.test(from ?? "") && names.includes("env"))
      say(line, "reads the environment, which only settings may")
  }
  for (const statement of source.statements) if (holdsState(statement)) say(at(statement), "holds state in a module")
  if (file !== "index.ts") {
    for (const statement of source.statements) {
      for (const flaw of Docstring.flawsOf(statement, isPublic)) say(at(statement), flaw)
    }
  }

  return file === "index.ts" ? [...found, ...checkIndex(source)] : found
}

/** All violations in these files, whose names are paths under `src`; `isPublic` tells the package's modules. */
export const violations = (
  files: Readonly<Record<string, string>>,
  isPublic: (file: string) => boolean
): ReadonlyArray<string> => Object.entries(files).flatMap(([file, text]) => checkFile(file, text, isPublic(file)))
