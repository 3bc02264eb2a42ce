/**
 * Finds the machine's unix sockets that commands with sockets of their own must not reach.
 */
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Path from "node:path"
import * as Attempt from "../../../../domain/Attempt.js"
import * as BytePath from "../../../policy/BytePath.js"
import * as HostPath from "../../../policy/HostPath.js"
import * as PrivateTemporary from "../../../policy/PrivateTemporary.js"
import { type Rule, realOf, type SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import * as FileWalk from "./FileWalk.js"
import * as Masks from "./Masks.js"
import * as WriteRoots from "./WriteRoots.js"

const { isWithin } = HostPath

/** Directories of daemons' sockets, which the kernel's list may lack: below `/var`, and below the user's home. */
const ofSystem =
  "lib/containerd lib/containers lib/docker lib/incus lib/kubelet lib/libvirt lib/lxd lib/mysql lib/postgresql lib/rancher lib/sss opt/gitlab snap/lxd spool/postfix".split(
    " "
  )
const ofUser =
  ".1password .bitwarden-ssh-agent.sock .cache/keyring .colima .config/pulse .dbus .docker/desktop .docker/run .emacs.d/server .gnupg .lima .local/share/containers .local/share/docker .local/share/wezterm .orbstack .password-store/.gnupg .rd .screen .ssh .tmux/sockets .wezterm".split(
    " "
  )

/** Directories that every sandbox has its own of. */
const replaced = ["/dev", "/proc", "/run"]

/** The most names that are looked up. Other sandboxes' lists can be of any length, and come last. */
const mostNames = 20_000

/** Matches a line of the kernel's list with the name that was given to `bind`, unless it is abstract. */
const named = /^[\da-f]+: (?:\S+ +){5} *\d+ ([^@].*)$/gm

/**
 * Returns the sockets that the kernel lists in the network namespaces of this machine's processes. A relative name may
 * lie in the directory of any process.
 */
const listed = (): ReadonlyArray<string> => {
  const processes = ["self", ...Attempt.orElse(() => Fs.readdirSync("/proc"), []).filter((name) => /^\d+$/.test(name))]
  const namespaces = new Map<string, string>()
  const directories = new Set<string>()
  for (const id of processes) {
    const namespace = Attempt.orUndefined(() => Fs.readlinkSync(`/proc/${id}/ns/net`))
    if (namespace !== undefined && !namespaces.has(namespace)) namespaces.set(namespace, id)
    const directory = Attempt.orUndefined(() => BytePath.readLink(`/proc/${id}/cwd`))
    if (directory !== undefined) directories.add(directory)
  }
  const names = [...namespaces.values()].flatMap((id) => {
    const text = BytePath.decode(Attempt.orElse(() => Fs.readFileSync(`/proc/${id}/net/unix`), Buffer.alloc(0)))
    return [...text.matchAll(named)].flatMap(([, name = ""]) =>
      name.startsWith("/") ? [name] : Array.from(directories, (directory) => Path.posix.join(directory, name))
    )
  })
  return [...new Set(names)]
    .slice(0, mostNames)
    .filter(HostPath.isSocket)
    .flatMap((path) => WriteRoots.realPath(path) ?? [])
}

/** The longest path that `connect` takes. */
const longest = 107

/** Tests whether anything listens at a socket: a socket file that a program has left behind stays forever. */
const isLive = (path: string): Promise<boolean> =>
  typeof BytePath.toHost(path) !== "string" || BytePath.isDoubtful(path) || Buffer.byteLength(path) > longest
    ? Promise.resolve(true)
    : new Promise((resolve) => {
        const socket = Net.connect(path)
        socket.once("connect", () => {
          resolve(true)
          // Closing with unread bytes would be an error for the program.
          socket.resume().end()
          setTimeout(() => socket.destroy(), 100).unref()
        })
        socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED" && code !== "ENOENT"))
      })

const ruleOf = (path: string, pattern = path): Rule => ({ pattern, path, kind: "path", source: "socket" })

/**
 * Returns rules that deny the sockets with a listener on this machine, and the directories where it would listen again.
 * In writable places, only the socket itself is denied.
 */
export const find = async (policy: SandboxPolicy, userHome: string): Promise<ReadonlyArray<Rule>> => {
  const { places, whitelist } = PrivateTemporary.make(policy)
  // What is granted to be read can also lie in the machine's `/tmp`, which is hidden otherwise.
  const roots = WriteRoots.outermost([...whitelist, ...(policy.granted ?? [])].map(realOf))
  const isInRoot = (path: string) => roots.some((root) => isWithin(path, root))
  const isUnseen = (path: string) => !isInRoot(path) && [...replaced, ...places].some((place) => isWithin(path, place))
  const inRoots: Array<string> = []
  await FileWalk.visitAll(roots, (directory, entry) => {
    if (entry.isSocket()) inRoots.push(`${directory}/${entry.name}`)
    return true
  })
  const known = [...ofSystem.map((name) => `/var/${name}`), ...ofUser.map((name) => `${userHome}/${name}`)]
  const all = listed()
  const live = all.filter(isInRoot)
  for (const path of inRoots) if (!live.includes(path) && (await isLive(path))) live.push(path)
  const needed = [policy.cwd, ...roots, ...[...policy.readonly, ...policy.blacklist].map(realOf)]
  return [
    ...[...live, ...known.filter((path) => !isInRoot(path))].map((path) => ruleOf(path)),
    ...all
      .filter((path) => !isInRoot(path))
      .map((path) => {
        const directory = Path.posix.dirname(path)
        return ruleOf(Masks.isHarmful(directory, needed) ? path : directory, path)
      })
  ].filter(({ path }) => !isUnseen(path) && !roots.some((root) => isWithin(root, path)))
}
