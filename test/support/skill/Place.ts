/** A project and a home for skills, in a directory of the test's own. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LocalSkillStore from "../../../src/extension/skill/LocalSkillStore.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as SessionSettings from "../../../src/session/SessionSettings.js"
import * as Directory from "../sandbox/Directory.js"

/** Skills as they are published: nested scripts and references, no scripts, one as people write it. */
export const published = Path.resolve(import.meta.dirname, "../../fixtures/skills")

export interface Place {
  readonly project: string
  readonly home: string
  /** Writes a file, with the directories it needs, and returns its path. */
  readonly put: (path: string, text: string, mode?: number) => string
  /** Puts a skill of this description somewhere, and returns its directory. */
  readonly skill: (directory: string, description?: string) => string
}

export const make = Effect.map(Directory.make, (root): Place => {
  const put = (path: string, text: string, mode = 0o644) => {
    Fs.mkdirSync(Path.dirname(path), { recursive: true })
    Fs.writeFileSync(path, text, { mode })
    return path
  }
  const place = { project: `${root}/project`, home: `${root}/home` }
  for (const path of Object.values(place)) Fs.mkdirSync(path)
  return {
    ...place,
    put,
    skill: (directory, description = "Does it.") =>
      Path.dirname(
        put(
          `${directory}/SKILL.md`,
          `---\nname: ${JSON.stringify(Path.basename(directory))}\ndescription: ${JSON.stringify(description)}\n---\nDo it.\n`
        )
      )
  }
})

/** Installs the published ones in the home. */
export const install = ({ home }: Place): void => Fs.cpSync(published, `${home}/skills`, { recursive: true })

/** A store over them. */
export const layer = ({ home, project }: Place) =>
  LocalSkillStore.layer.pipe(
    Layer.provide(Layer.merge(SandboxSettings.layer({ home }), SessionSettings.layer({ cwd: project })))
  )
