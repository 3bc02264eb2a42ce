/**
 * Answers a call of another agent's tool (`Read`, `apply_patch`, `shell`) with the command that does the same here,
 * made of the call's own arguments.
 */
import * as Quote from "../../bash/Quote.js"
import * as Advice from "../../domain/Advice.js"
import * as BashArguments from "../BashArguments.js"
import * as ExtensionTool from "./ForeignTool.extension.js"
import * as FileTool from "./ForeignTool.files.js"
import { Given, isShown } from "./ForeignTool.given.js"
import * as SearchTool from "./ForeignTool.search.js"
import * as ShellWords from "./ShellWords.js"

/** Tests whether Synapse has a command of its own by that name, with the option behind it. */
export type Offers = (command: string) => boolean

type Answer = (given: Given, offers: Offers, isOffline: boolean) => Advice.Advice | undefined

const command =
  (make: (given: Given) => string): Answer =>
  (given) => [Advice.run(make(given))]

const shell: Answer = (given) => {
  const action = given.object("action") ?? given
  const line = ShellWords.toCommand(action.any("command", "cmd"))
  if (line === undefined) return undefined
  const directory = action.text("workdir", "workingdirectory", "cwd", "directory")
  const there = directory === undefined || directory === "" ? line : ShellWords.inDirectory(directory, line)
  const run = Advice.run(action.flag("isbackground", "runinbackground") ? BashArguments.inBackground(there) : there)
  const timeout = action.number("timeoutms", "timeout")
  return timeout === undefined ? [run] : Advice.line`${run}, with timeout=${`${timeout}`}`
}

const task: Answer = (given, offers) => {
  const line = ExtensionTool.task(given)
  return offers(line.split(" ", 1).join())
    ? [Advice.run(line)]
    : Advice.line`there are no sub-agents: do the task yourself, with Bash`
}

const skill: Answer = (given, offers) => (offers("skill:load") ? [Advice.run(ExtensionTool.skill(given))] : undefined)

const todoRead: Answer = (_, offers) =>
  offers("TodoRead")
    ? [Advice.run("TodoRead")]
    : offers("TodoWrite")
      ? [Advice.run("TodoWrite --show")]
      : Advice.line`there is no list of tasks`

const offline = Advice.line`none: the sandbox has no network but localhost`

const onThisMachine = /^(?:https?:\/\/)?(?:localhost|127\.[\d.]+|\[::1\])(?:[:/?#]|$)/i

const webFetch: Answer = (given, _, isOffline) =>
  isOffline && !onThisMachine.test(given.text("url") ?? "")
    ? offline
    : [Advice.run(`curl -sSL ${given.word("<url>", "url")}`)]

const webSearch: Answer = (_, __, isOffline) => (isOffline ? offline : undefined)

const patch: Answer = (given, offers) => {
  const commands = FileTool.patch(given, offers("edit --patch"))
  return commands === undefined
    ? Advice.line`${Advice.run("edit <file> <old> <new>")} for each change; ${Advice.run("edit --help")} says more`
    : [Advice.run(commands)]
}

const editor: Answer = (given) => {
  const line = FileTool.editor(given)
  return line === undefined ? undefined : [Advice.run(line)]
}

const python: Answer = (given) => {
  const code = typeof given.params === "string" ? given.params : given.text("code", "script", "input")
  return code === undefined || code.trim() === "" || !isShown(code)
    ? Advice.line`${Advice.run("python3 - <<'EOF'\n<code>\nEOF")}`
    : [Advice.run(`python3 - ${Quote.hereDocument(`${code.replace(/\n$/, "")}\n`)}`)]
}

const background: Answer = () =>
  Advice.line`${Advice.run("jobs -l")} lists what runs in the background; its output is in the file that it was sent to, or that the result of its call named`

const kill: Answer = () =>
  Advice.line`${Advice.run("jobs -l")} lists what runs in the background, and ${Advice.typed("kill %1")} ends the first`

const shellNames =
  "shell localshell containerexec execcommand executecommand executebash runcommand runshellcommand runinterminal runterminalcmd runterminalcommand terminal"

/** The tools by their names in lower case, without what is no letter. */
const answers: ReadonlyMap<string, Answer> = new Map<string, Answer>(
  (
    [
      ["read readfile viewfile viewimage", command(FileTool.read)],
      ["view", command(FileTool.view)],
      ["readmanyfiles", command(FileTool.readMany)],
      ["write writefile writetofile createfile", command(FileTool.write)],
      ["edit editfile replace searchreplace strreplace", command(FileTool.edit)],
      ["multiedit", command(FileTool.multiEdit)],
      ["applydiff replaceinfile", command(FileTool.searchAndReplace)],
      ["applypatch patch", patch],
      ["grep grepsearch searchfilecontent searchfiles", command(SearchTool.grep)],
      ["rg ripgrep ag", command(SearchTool.ripgrep)],
      ["glob", command(SearchTool.glob)],
      ["filesearch", command(SearchTool.named)],
      ["deletefile", command(FileTool.remove)],
      ["ls list listdir listdirectory listfiles", command(SearchTool.ls)],
      ["todowrite updateplan", command(FileTool.todoWrite)],
      ["todoread", todoRead],
      ["webfetch fetch", webFetch],
      ["websearch", webSearch],
      ["task agent newtask subagent runsubagent spawnagent dispatchagent delegatetask", task],
      ["skill useskill loadskill", skill],
      ["strreplaceeditor strreplacebasededittool texteditor", editor],
      ["bashoutput getterminaloutput taskoutput", background],
      ["killshell killbash taskstop", kill],
      [shellNames, shell],
      ["python pythonrepl executepython runpython codeinterpreter ipython", python]
    ] as const
  ).flatMap(([names, answer]) => names.split(" ").map((name): [string, Answer] => [name, answer]))
)

/**
 * Returns the advice that takes the place of a call of another agent's tool; undefined for a tool that no agent is
 * known to have.
 *
 * @param params the arguments: the object, or text that is not JSON
 * @param isOffline true where commands reach no network
 */
export const advise = (name: string, params: unknown, offers: Offers, isOffline = false): Advice.Advice | undefined => {
  const given = new Given(params)
  const mcp = offers("mcp:") ? ExtensionTool.mcp(name, given) : undefined
  return mcp === undefined ? answers.get(plain(name))?.(given, offers, isOffline) : [Advice.run(mcp)]
}

const plain = (name: string): string =>
  name
    .replace(/^functions\./, "")
    .toLowerCase()
    .replace(/[^a-z]/g, "")

const shells: ReadonlySet<string> = new Set(shellNames.split(" "))

/** Tests whether a tool runs a command line. */
export const isShell = (name: string): boolean => shells.has(plain(name))
