/**
 * What a result costs in bytes: what the commands themselves wrote, the `output` that a model reads, and the line of JSON,
 * with and without `--brief`; for the corpus's calls, and for such as an agent makes that works in this project.
 */
import * as Effect from "effect/Effect"
import * as Synapse from "../../src/Synapse.js"
import * as ToolReturn from "../../src/toolset/ToolReturn.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Entry from "../support/corpus/Entry.js"
import * as Ground from "../support/corpus/Ground.js"
import * as Session from "../support/corpus/Session.js"

/** What was measured before: of some 460 calls. */
const before = { failure: 122, denial: 352, line: 2.4 }
const goals = { failure: 60, line: 1.3 }

const work = [
  "ls -la",
  "git log --oneline | head -n 20",
  "git status --short",
  "find src -name '*.ts' | sort | head -n 60",
  "grep -rn 'exitCode' src/toolset | head -n 40",
  "read src/toolset/ToolReturn.ts",
  "read package.json --limit 60",
  "sed -n 1,80p src/toolset/BashTool.ts",
  "wc -l src/*/*.ts | tail -n 30",
  "cat README.md | head -n 60",
  "node -e 'console.log(JSON.stringify(process.versions, null, 2))'",
  "head -n 40 src/session/supervisor.bash",
  "ls test/toolset src/toolset",
  "cat biome.json | grep -n rules",
  "grep -rn 'no such text anywhere' src/bin",
  "cat src/toolset/NoSuchFile.ts",
  "seq 1 400 | xargs -n 10 echo"
]

const size = (text: string | undefined): number => Buffer.byteLength(text ?? "")

const ownOf = ({ extras }: ToolReturn.ToolReturn): number => size(extras.stdout) + size(extras.stderr)

const outputOf = ({ output }: ToolReturn.ToolReturn): number => size(output)

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((all, one) => all + one, 0)

const mean = (numbers: ReadonlyArray<number>): number => Math.round(sum(numbers) / numbers.length)

const isDenial = ({ extras }: ToolReturn.ToolReturn): boolean => extras.failureCategory === "blocked"

const lineOf = (result: object): number => size(`${JSON.stringify(result)}\n`)

const row = (name: string, results: ReadonlyArray<ToolReturn.ToolReturn>): ReadonlyArray<string> => {
  const output = sum(results.map(outputOf))
  const [line, brief] = [sum(results.map(lineOf)), sum(results.map((one) => lineOf(ToolReturn.brief(one))))]
  const ratio = (bytes: number): string => `${bytes} (${(bytes / output).toFixed(2)})`
  return [name, `${results.length}`, `${sum(results.map(ownOf))}`, `${output}`, ratio(line), ratio(brief)]
}

const print = (rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const format = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(" | ")} |`
  const [head = [], ...body] = rows
  const rule = `|${widths.map((width, at) => `${"-".repeat(width + 1)}${at === 0 ? "-" : ":"}`).join("|")}|`
  console.log([format(head), rule, ...body.map(format), ""].join("\n"))
}

const worked = Effect.forEach(work, (command, at) =>
  Effect.flatMap(Toolset, ({ handle }) => handle({ id: `${at}`, name: "Bash", arguments: JSON.stringify({ command }) }))
).pipe(Effect.provide(Synapse.layer({ cwd: process.cwd() }, { sandbox: { enabled: false } })))

Object.assign(process.env, Ground.environment)
const corpus = (
  await Effect.runPromise(Effect.forEach(Entry.kinds, (kind) => Session.run(Entry.load(kind), true)))
).flatMap((answers) => answers.map(({ answer }) => answer))
const results = await Effect.runPromise(worked)

print([
  ["bytes", "calls", "the commands' own", "output", "JSON line (times output)", "with --brief"],
  row("work in this project", results),
  row("the corpus", corpus),
  row(
    "– that succeeded",
    corpus.filter(({ isError }) => !isError)
  ),
  row(
    "– that failed",
    corpus.filter((one) => one.isError)
  )
])

const ordinary = corpus.filter(
  ({ extras }) => extras.stdout !== undefined && extras.failureCategory === "execution_error"
)
const added = (some: ReadonlyArray<ToolReturn.ToolReturn>): number =>
  mean(some.map((one) => outputOf(one) - ownOf(one)))
const brief = sum(results.map((one) => lineOf(ToolReturn.brief(one)))) / sum(results.map(outputOf))
const verdict = (value: number, goal: number): string => `at most ${goal}: ${value <= goal ? "met" : "MISSED"}`
const failure = added(ordinary)
print([
  ["bytes", "before", "now", "goal"],
  ["added to an ordinary failure (mean)", `${before.failure}`, `${failure}`, verdict(failure, goals.failure)],
  ["added to a denial (mean)", `${before.denial}`, `${added(corpus.filter(isDenial))}`, "one line"],
  ["JSON line with --brief, times output (work)", `${before.line}`, brief.toFixed(2), verdict(brief, goals.line)]
])
