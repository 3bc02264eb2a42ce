/** Mounts in a project that give commands the kernel's files, or the system by another name. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Temporary from "../support/Temporary.js"

const program = path.resolve(import.meta.dirname, "../../dist/bin/synapse.cjs")

const quoted = (words: ReadonlyArray<string>) => words.map((word) => `'${word}'`).join(" ")

/** Runs a script in a mount namespace of its own; `synapse` in it is the program. */
const apart = (directory: string, script: string) => {
  const synapse = `synapse() { ${quoted([process.execPath, program])} "$@"; }`
  const { stderr, stdout } = childProcess.spawnSync("unshare", ["-m", "bash", "-c", `${synapse}\n${script}`], {
    cwd: directory,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: directory, SYNAPSE_HOME: path.join(directory, "home"), TMPDIR: "/var/tmp" }
  })
  return { stdout, stderr }
}

const isRoot = process.platform === "linux" && process.getuid?.() === 0

// An ordinary user has no such mounts, and the kernel's files are not theirs to write.
describe.skipIf(!isRoot)("mounts in a project", () => {
  it("leave the kernel's files read-only", () =>
    Temporary.using(async (directory) => {
      for (const name of ["p/tree/proc", "p/tree/sys", "home"]) {
        fs.mkdirSync(path.join(directory, name), { recursive: true })
      }
      const command = [
        "at=tree/proc/sys/kernel/domainname; name=$(cat $at)",
        'echo "$name" >$at && echo WROTE',
        "echo add >tree/sys/kernel/uevent_helper && echo WROTE",
        'echo "$name" >tree/proc/1/root/proc/sys/kernel/domainname && echo WROTE',
        "umount tree/proc && echo WROTE",
        "mv tree away && echo WROTE",
        "touch tree/file && echo wrote"
      ].join("; ")
      const { stdout } = apart(
        path.join(directory, "p"),
        `mount -t proc proc tree/proc && mount -t sysfs sysfs tree/sys && synapse exec '${command}'`
      )
      assert.strictEqual(stdout, "wrote\n")
    }))

  it("are refused where they are the system by another name", () =>
    Temporary.using(async (directory) => {
      for (const name of ["p/settings", "p/proc", "home", "other"]) {
        fs.mkdirSync(path.join(directory, name), { recursive: true })
      }
      const { stderr, stdout } = apart(
        directory,
        [
          "mount --bind /etc p/settings && mount -t proc proc p/proc",
          "(cd p; synapse exec 'touch settings/synapse-test && echo WROTE; touch file && echo wrote')",
          "(cd p/settings; synapse exec 'echo RAN')",
          "synapse exec --cwd other --allow $PWD/p/settings 'echo RAN'",
          "synapse exec --cwd other --allow $PWD/p/proc/sys 'echo RAN'",
          "umount p/settings; synapse exec --cwd other --allow $PWD/p 'echo ran'"
        ].join("\n")
      )
      assert.strictEqual(stdout, "wrote\nran\n")
      const others = stderr.split("\n").filter((line) => line.startsWith("synapse: no sandbox: "))
      assert.strictEqual(others.length, 3, stderr)
      for (const one of others.slice(0, 2)) {
        assert.include(
          one,
          `no sandbox: ${directory}/p/settings can't be written: it is, or holds, what is also at /etc`
        )
      }
      assert.include(others[2], `${directory}/p/proc/sys can't be written: the kernel's own files`)
    }))
})
