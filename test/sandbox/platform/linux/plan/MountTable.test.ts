import { assert, describe, it } from "@effect/vitest"
import * as MountTable from "../../../../../src/sandbox/platform/linux/plan/MountTable.js"

const text = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw - proc proc rw
24 22 8:2 / /home rw shared:2 - ext4 /dev/sda2 rw
25 22 8:2 /ann/project /srv/with\\040blank rw - ext4 /dev/sda2 rw
26 22 8:2 /ann/.ssh/keys /mnt/keys rw master:3 propagate_from:2 - ext4 /dev/sda2 rw
27 22 8:1 / /mnt/host rw - ext4 /dev/sda1 rw
28 24 0:40 / /home/ann/tmp\\134x rw - tmpfs tmpfs rw
`

describe("the table of mounts", () => {
  const mounts = MountTable.parse(text)

  it("is read, blanks and backslashes too", () => {
    assert.deepStrictEqual(
      mounts.slice(3).map(({ device, point, root }) => [device, root, point]),
      [
        ["8:2", "/ann/project", "/srv/with blank"],
        ["8:2", "/ann/.ssh/keys", "/mnt/keys"],
        ["8:1", "/", "/mnt/host"],
        ["0:40", "/", "/home/ann/tmp\\x"]
      ]
    )
    assert.isAbove(MountTable.read("self").length, 3)
    assert.deepStrictEqual(MountTable.read(2 ** 30), [])
  })

  it("takes no character of a name for the end of a line or a column but those that the kernel does", () => {
    const names = ["\r", "\v", "\f", "\u00a0", "\u2028", "\u3000", "\ufeff", "\u0085"].map(
      (char) => `/p/a${char}b${char}`
    )
    const text = names.map((name, at) => `${at + 2} 1 8:1 ${name} ${name} rw,nosuid - ext4 /dev/sda rw\n`).join("")
    assert.deepStrictEqual(
      MountTable.parse(text).map(({ isWritable, point, root }) => [root, point, isWritable]),
      names.map((name) => [name, name, true])
    )
  })

  it("tells where else a path, or a part of it, is to be seen", () => {
    assert.deepStrictEqual(MountTable.aliases(mounts, "/home/ann/project/a/.env"), ["/srv/with blank/a/.env"])
    assert.deepStrictEqual(MountTable.aliases(mounts, "/srv/with blank/.env"), ["/home/ann/project/.env"])
    assert.deepStrictEqual(MountTable.aliases(mounts, "/home/ann/.ssh"), ["/mnt/keys"])
    assert.deepStrictEqual(MountTable.aliases(mounts, "/etc/shadow"), ["/mnt/host/etc/shadow"])
    assert.deepStrictEqual(MountTable.aliases(mounts, "/home/ann/other"), [])
    assert.deepStrictEqual(MountTable.aliases(mounts, "/home/ann/tmp\\x/.env"), [])
  })

  it("takes the last of several mounts at one place, and a path for no other name of itself", () => {
    const stacked = MountTable.parse(`${text}29 22 8:3 / /home rw - ext4 /dev/sda3 rw\n`)
    assert.deepStrictEqual(MountTable.sourceOf(stacked, "/home/ann"), { device: "8:3", root: "/ann" })
    const twice = MountTable.parse("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 8:1 / / rw - ext4 /dev/sda1 rw\n")
    assert.deepStrictEqual(MountTable.aliases(twice, "/etc/shadow"), [])
  })
})
