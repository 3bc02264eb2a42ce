// Makes docs/pictures from real runs of the program on a pseudo-terminal, with a model that is played here:
// `npm run build && node test/pictures/make.mjs`, as an ordinary user. Names as arguments make these pictures only.
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import * as os from "node:os"
import * as path from "node:path"
import Xterm from "@xterm/headless"

const root = path.resolve(import.meta.dirname, "../..")
const columns = 84

const files = {
  "project/src/router.mjs": "export const route = (path) => path.replace(/\\/$/, '')\n",
  "project/test/router.test.mjs": `import { equal } from "node:assert"
import { test } from "node:test"
import { route } from "../src/router.mjs"

test("keeps a slash", () => equal(route("/docs/"), "/docs/"))
test("finds a page", () => equal(route("/docs"), "/docs"))
`,
  "project/package.json": '{ "name": "router", "scripts": { "test": "node --test" } }\n',
  "project/.env": "TOKEN=1\n"
}

/** @typedef {{ readonly says?: string; readonly commands?: ReadonlyArray<string>; readonly waits?: boolean }} Turn */

const tests = "node --test test/*.mjs | grep -E '^(not )?ok'"
const fix = `edit src/router.mjs "path.replace(/\\/$/, '')" "path"`
const question = "Why does the router lose slashes?"
const found =
  "`route` in **src/router.mjs** cut the last slash off every path.\nIt returns the path as it is now, and both tests pass."

/** What the model does, by a text that its first prompt has in it. @type {Record<string, ReadonlyArray<Turn>>} */
const model = {
  [question]: [
    { says: "I run the tests first.", commands: [tests] },
    { commands: ["read src/router.mjs"] },
    { says: "The last slash is cut off here.", commands: [fix, tests] },
    { says: found }
  ],
  "what does route do": [
    { commands: ["read src/router.mjs"] },
    { says: "It cuts the last slash off a path. I keep it:", commands: [fix] },
    { says: "`route` keeps **every** slash now." }
  ],
  ROUTER: [
    { commands: ["grep -rn route src"] },
    { commands: ["read src/router.mjs"] },
    { says: "src/router.mjs cuts the last slash off." }
  ],
  TESTS: [
    { commands: ["ls test"] },
    { commands: ["read test/router.test.mjs"] },
    { commands: [tests] },
    { waits: true }
  ]
}

/** Serves OpenAI's chat completions. */
const served = http.createServer(async (request, response) => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  /** @type {{ readonly messages: ReadonlyArray<{ readonly role: string }> }} */
  const { messages } = JSON.parse(text)
  const prompts = JSON.stringify(messages.filter(({ role }) => role === "user"))
  const turns = Object.entries(model).find(([name]) => prompts.includes(name))?.[1] ?? []
  const at = messages.filter(({ role }) => role === "assistant").length
  const { commands = [], says = "", waits = false } = turns[at] ?? {}
  if (waits) return
  /** @type {(part: object) => void} */
  const send = (part) =>
    void response.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "m", ...part })}\n\n`
    )
  const tool_calls = commands.map((command, index) => ({
    index,
    id: `call_${at}_${index}`,
    type: "function",
    function: { name: "Bash", arguments: JSON.stringify({ command }) }
  }))
  response.writeHead(200, { "content-type": "text/event-stream" })
  send({
    choices: [
      {
        index: 0,
        delta: { role: "assistant", content: says, ...(tool_calls.length > 0 && { tool_calls }) },
        finish_reason: null
      }
    ]
  })
  send({ choices: [{ index: 0, delta: {}, finish_reason: tool_calls.length > 0 ? "tool_calls" : "stop" }] })
  send({ choices: [], usage: { prompt_tokens: 2400 + 300 * at, completion_tokens: 60, total_tokens: 2460 + 300 * at } })
  response.end("data: [DONE]\n\n")
})

/** What is typed when the terminal's last line fits. @typedef {readonly [shown: RegExp, typed: string]} Typed */

/** @type {Record<string, { readonly args: ReadonlyArray<string>; readonly typed?: ReadonlyArray<Typed>; readonly until?: RegExp }>} */
const pictures = {
  agent: { args: ["agent", question] },
  shell: {
    args: ["shell"],
    typed: [
      [/^~\/project(?: \[\d+\])? [$#]$/, "cd src; N=$(ls | wc -l)\r"],
      [/^~\/project\/src [$#]$/, "cd ..; echo $N file; cat .env\r"],
      [/^Allow it\?/, "\r"],
      [/^~\/project(?: \[\d+\])? [$#]$/, "? what does route do\r"],
      [/^~\/project(?: \[\d+\])? [$#]$/, "/undo\r"]
    ],
    until: /\/undo\n(?:.*\n)+~\/project.* [$#]$/
  },
  tasks: {
    args: ["exec", "task:explore -d 'find the router' -p ROUTER &\n  task:explore -d 'run its tests' -p TESTS & wait"],
    until: /✓ Task\(explore: find[\s\S]*slash off\.[\s\S]*\[3 tools, \d+s\]/
  }
}

/** Shows a program until it ends, or until its terminal fits. */
const show = async (
  /** @type {number} */ port,
  /** @type {(typeof pictures)[string]} */ { args, typed = [], until }
) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "ada-"))
  const settings = {
    provider: "local",
    providers: {
      local: { kind: "compatible", baseUrl: `http://127.0.0.1:${port}/v1`, model: "m", contextWindow: 128000 }
    },
    prices: { m: { input: 3, output: 15 } }
  }
  for (const [name, text] of Object.entries({ ...files, ".synapse/settings.json": JSON.stringify(settings) })) {
    const file = path.join(directory, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
  const words = [process.execPath, path.join(root, "dist/bin/synapse.cjs"), ...args].map(
    (word) => `'${word.replaceAll("'", "'\\''")}'`
  )
  const child = spawn("script", ["-qefc", `stty cols ${columns} rows 40; exec ${words.join(" ")}`, "/dev/null"], {
    cwd: path.join(directory, "project"),
    env: {
      PATH: process.env["PATH"],
      HOME: directory,
      SYNAPSE_HOME: path.join(directory, ".synapse"),
      TERM: "xterm-256color",
      SHELL: "/bin/sh",
      LANG: "C.UTF-8"
    }
  })
  const terminal = new Xterm.Terminal({ cols: columns, rows: 40, allowProposedApi: true })
  const { active } = terminal.buffer
  const line = ["synapse", ...args.map((word) => (/^\w+$/.test(word) ? word : `"${word}"`))].join(" ")
  terminal.write(`\x1b[2m$\x1b[m ${line.replaceAll("\n", "\r\n")}\r\n`)
  const text = () =>
    Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true) ?? "")
      .join("\n")
      .trimEnd()
  const left = [...typed]
  await new Promise((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (chunk) =>
      terminal.write(chunk.replaceAll(directory, "/home/ada"), () => {
        const shown = text()
        const [next] = left
        if (next?.[0].test(shown.slice(shown.lastIndexOf("\n") + 1)) === true) {
          left.shift()
          child.stdin.write(next[1])
        } else if (left.length === 0 && until?.test(shown) === true) resolve(undefined)
      })
    )
    child.on("close", () => terminal.write("", () => resolve(undefined)))
  })
  const picture = svg(line, active)
  console.log(`${text()}\n`)
  if (child.exitCode === null) {
    child.kill("SIGINT")
    await new Promise((resolve) => child.on("exit", resolve))
  }
  fs.rmSync(directory, { recursive: true, force: true })
  return picture
}

const palette = ["#3f4451", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"]
const [width, height, margin] = [8.43, 19, 16]

/** @type {(text: string) => string} */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Draws a row in runs of one style; a gap of blanks ends a run, so that the next one stands in its column. */
const row = (/** @type {import("@xterm/headless").IBufferLine} */ line, /** @type {number} */ y) => {
  /** @type {Array<{ x: number; style: string; text: string }>} */
  const runs = []
  for (let x = 0; x < columns; x++) {
    const cell = line.getCell(x)
    if (cell === undefined || cell.getWidth() === 0) continue
    const colour = cell.isFgPalette() ? palette[cell.getFgColor() % 8] : undefined
    const style = `${colour === undefined ? "" : ` fill="${colour}"`}${cell.isBold() ? ' font-weight="bold"' : ""}${cell.isDim() ? ' opacity="0.55"' : ""}`
    const [last] = runs.slice(-1)
    const text = cell.getChars() || " "
    if (last?.style === style && !(text !== " " && last.text.endsWith("  "))) last.text += text
    else runs.push({ x, style, text })
  }
  return runs
    .filter(({ text }) => text.trim() !== "")
    .map(({ style, text, x }) => {
      const start = x + text.length - text.trimStart().length
      return `<text x="${(margin + start * width).toFixed(1)}" y="${y}"${style}>${escaped(text.trim())}</text>`
    })
}

/** @type {(title: string, buffer: import("@xterm/headless").IBuffer) => string} */
const svg = (title, buffer) => {
  const lines = Array.from({ length: buffer.length }, (_, at) => buffer.getLine(at)).filter(
    (line) => line !== undefined
  )
  const end = lines.findLastIndex((line) => line.translateToString(true) !== "") + 1
  const drawn = lines.slice(0, end).flatMap((line, at) => row(line, 28 + at * height))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(columns * width + 2 * margin)}" height="${28 + end * height}" font-family="ui-monospace, Menlo, 'DejaVu Sans Mono', monospace" font-size="14" fill="#abb2bf">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#21252b"/>
${drawn.join("\n")}
</svg>
`
}

await new Promise((resolve) => served.listen(0, "127.0.0.1", () => resolve(undefined)))
const { port } = /** @type {import("node:net").AddressInfo} */ (served.address())
const wanted = process.argv.slice(2)
for (const [name, picture] of Object.entries(pictures))
  if (wanted.length === 0 || wanted.includes(name))
    fs.writeFileSync(path.join(root, `docs/pictures/${name}.svg`), await show(port, picture))
served.closeAllConnections()
served.close()
