/** The actions of `synapse skill`. */
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SkillText from "../commands/skill/Skill.js"
import type * as Advice from "../domain/Advice.js"
import { type CommandError, ExecutionFailed, toText } from "../domain/CommandError.js"
import * as ExitCode from "../domain/ExitCode.js"
import * as UntrustedText from "../domain/UntrustedText.js"
import * as LocalSkillStore from "../extension/skill/LocalSkillStore.js"
import * as OwnSkills from "../extension/skill/OwnSkills.js"
import { type Skill, SkillStore } from "../extension/skill/SkillStore.js"
import * as PolicyBuilder from "../sandbox/config/PolicyBuilder.js"
import * as SandboxSettings from "../sandbox/config/SandboxSettings.js"
import * as PolicyDecision from "../sandbox/policy/PolicyDecision.js"
import * as SessionSettings from "../session/SessionSettings.js"
import * as Action from "./Action.js"
import { complain, write } from "./Invocation.js"

const layer = Layer.provide(LocalSkillStore.layer, SessionSettings.layer())

/** On the command line, a person lists skills by `synapse skill`. */
const audience: Advice.Audience = { run: (command) => `\`synapse ${command.replace(/^skill:/, "skill ")}\`` }

/** Runs an action, and prints its text or its error. */
const run = <R>(action: Effect.Effect<string, CommandError, R>) =>
  action.pipe(
    Effect.matchEffect({
      onSuccess: (text) => Effect.as(write("stdout", text), ExitCode.success),
      onFailure: (error) => complain(toText(error, audience))
    }),
    Effect.provide(layer),
    Action.run
  )

/** Describes a skill's problem, unless its line does, and the hidden skills of the same name. */
export const remarks = ({ description, directory, hides = [], name, problem }: Skill): ReadonlyArray<string> => [
  ...(problem === undefined || description === ""
    ? []
    : [`${UntrustedText.line(name, 200)}: ${UntrustedText.line(problem, 500)}`]),
  ...hides.map(
    (other) => `${UntrustedText.line(other, 500)} is not used: ${UntrustedText.line(directory, 500)} comes first`
  )
]

/** Prints a line for each skill, and problems below. */
export const list = ({ json }: { readonly json: boolean }) =>
  Effect.gen(function* () {
    const skills = yield* (yield* SkillStore).list
    if (json) return `${JSON.stringify({ skills })}\n`
    if (skills.length === 0) return "There are no skills. Add one: synapse skill add <dir>\n"
    const below = skills.flatMap(remarks)
    return [...skills.map(SkillText.line), ...(below.length === 0 ? [] : ["", ...below]), ""].join("\n")
  }).pipe(run)

const own = Effect.map(SandboxSettings.SandboxSettings, ({ home }) => LocalSkillStore.homeDirectory(home))

const failed = (reason: string) => new ExecutionFailed({ kind: "io", reason })

/** Makes a function that returns the rule hiding a path. */
const denying = (directory: string) =>
  Effect.map(
    Effect.flatMap(PolicyBuilder.PolicyBuilder, (builder) => builder.build(directory)),
    (policy) => {
      const { decide } = PolicyDecision.make(policy)
      return (real: string) => {
        const verdict = decide(real, "read")
        return verdict.allowed ? undefined : `rule ${verdict.rule.pattern}`
      }
    }
  ).pipe(Effect.mapError(({ message }) => failed(message)))

/** Copies a skill to the user's own skills. */
export const add = (given: { readonly dir: string; readonly force: boolean }) =>
  Effect.gen(function* () {
    const written = Path.resolve(given.dir)
    const from = /^skill\.md$/i.test(Path.basename(written)) ? Path.dirname(written) : written
    const denies = yield* denying(Path.dirname(from))
    const { files, leftOut, name } = yield* Effect.mapError(
      OwnSkills.add(yield* own, from, given.force, denies),
      failed
    )
    const isHidden = (yield* (yield* SkillStore).list).some((one) => one.name === name && one.source === "project")
    const lines = [
      `Added ${name} (${files === 1 ? "1 file" : `${files} files`})`,
      ...leftOut.map((what) => `Left out of ${name}: ${UntrustedText.line(what, 300)}`),
      ...(isHidden ? ["The current directory has one of the same name, which comes first."] : [])
    ]
    return `${lines.join("\n")}\n`
  }).pipe(run)

export const remove = ({ name }: { readonly name: string }) =>
  Effect.gen(function* () {
    const projects = (yield* (yield* SkillStore).list).find((one) => one.name === name && one.source === "project")
    const where =
      projects === undefined ? "" : ` The one in ${UntrustedText.line(projects.directory, 300)} is the project's.`
    const path = yield* Effect.mapError(OwnSkills.remove(yield* own, name), (reason) => failed(`${reason}${where}`))
    return `Removed ${path}\n`
  }).pipe(run)
