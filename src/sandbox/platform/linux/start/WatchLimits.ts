/**
 * The limits on what a sandbox's commands watch with inotify. The kernel counts that for each user, so that commands could
 * otherwise take all of it from the user's other programs.
 */
import * as Fs from "node:fs"

/** The most instances of a sandbox, for a program that watches files has one or two. */
const most = 64

/** The part of the user's instances, and of the user's watches, that one sandbox gets at most. */
const partOfInstances = 1 / 2
const partOfWatches = 3 / 4

const read = (name: string): number => {
  try {
    return Number(Fs.readFileSync(`/proc/sys/user/${name}`, "latin1"))
  } catch {
    return Number.NaN
  }
}

/** Returns the most instances and the most watches of one sandbox; undefined where the kernel has no such limits. */
export const find = (limit: (name: string) => number = read): readonly [number, number] | undefined => {
  const instances = limit("max_inotify_instances")
  const watches = limit("max_inotify_watches")
  if (!(instances > 1 && watches > 1)) return undefined
  return [Math.min(most, Math.floor(instances * partOfInstances)), Math.floor(watches * partOfWatches)]
}
