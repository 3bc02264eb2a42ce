import { assert, describe, it } from "@effect/vitest"
import * as MountTable from "../../../../../src/sandbox/platform/linux/plan/MountTable.js"

const mounts = MountTable.parse(
  [
    "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "2 1 0:21 / /proc rw - proc proc rw",
    "3 1 0:23 / /dev/shm rw - tmpfs tmpfs rw",
    "4 1 8:1 / /mnt/host rw master:2 propagate_from:1 - ext4 /dev/sda1 rw",
    "5 1 8:1 /etc /home/ann/settings rw - ext4 /dev/sda1 rw",
    "6 1 0:21 / /home/ann/tree/proc rw - proc proc rw",
    "7 1 0:22 /kernel /home/ann/tree/sys rw - sysfs sysfs rw",
    "8 1 8:2 /ann/work /home/ann/work rw - ext4 /dev/sdb1 rw",
    "9 1 0:23 / /home/ann/shared rw - tmpfs tmpfs rw",
    "10 1 8:2 /ann/work/run /run rw - ext4 /dev/sdb1 rw",
    "11 1 8:2 /ann/other /srv/other rw - ext4 /dev/sdb1 rw"
  ].join("\n")
)

describe("what a directory gives access to by its mounts", () => {
  it("is refused where it is the kernel's, or the system by another name", () => {
    for (const [path, reason] of [
      ["/home/ann/tree/proc", /kernel/],
      ["/home/ann/tree/proc/1/root/etc", /kernel/],
      ["/home/ann/tree/sys", /kernel/],
      ["/mnt/host", / at \/, /],
      ["/mnt/host/usr/bin", / at \/usr\/bin, /],
      ["/mnt/host/etc", / at \/etc, /],
      ["/home/ann/settings", / at \/etc, /],
      ["/home/ann/work", / at \/run, /]
    ] as const) {
      assert.match(String(MountTable.flaw(mounts, path)), reason, path)
    }
  })

  it("is not, where it is anything else", () => {
    for (const path of [
      "/home/ann",
      "/home/ann/tree",
      "/home/ann/shared",
      "/mnt/host/home/ann",
      "/srv/other",
      "/tmp"
    ]) {
      assert.isUndefined(MountTable.flaw(mounts, path), path)
    }
    assert.isUndefined(MountTable.flaw([], "/home/ann"))
  })

  it("is found below it", () => {
    assert.deepStrictEqual(MountTable.systemMountsBelow(mounts, "/home/ann/tree"), [
      "/home/ann/tree/proc",
      "/home/ann/tree/sys"
    ])
    assert.deepStrictEqual(MountTable.systemMountsBelow(mounts, "/home/ann"), [
      "/home/ann/settings",
      "/home/ann/tree/proc",
      "/home/ann/tree/sys",
      "/home/ann/work"
    ])
    assert.deepStrictEqual(MountTable.systemMountsBelow(mounts, "/home/ann/tree/proc"), [])
    assert.deepStrictEqual(MountTable.systemMountsBelow(mounts, "/srv"), [])
  })
})
