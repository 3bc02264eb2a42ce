/**
 * The system calls that the sandbox refuses to every command, and programs' messages about them.
 */

/** What the sandbox refuses, and how it is reported. */
export interface Refusal {
  readonly rule: string
  /** What was refused: `a mount`. */
  readonly what: string
  readonly reason: string
  /** What to do instead, or to ask for. */
  readonly next: string
}

/** A refusal, and the messages that report it. */
interface Row extends Refusal {
  /** Matches the system's error message; `EPERM` by default. */
  readonly words?: RegExp
  /** Matches a message about it, including the lines of a stack trace above. */
  readonly about: RegExp
  /** Matches commands to which a message without any name refers. */
  readonly command?: RegExp
  /** Matches messages about something else. */
  readonly not?: RegExp
  /** Matches the only commands whose messages are about it. */
  readonly only?: RegExp
  /** False if not the sandbox refuses it: outside, only root may do it. */
  readonly isSandboxs?: boolean
}

/** What the refusals depend on. */
export interface Confinement {
  readonly isRoot: boolean
  readonly unixSockets: boolean
  /** True if the user has an ssh-agent, which commands do not get. */
  readonly hasAgent?: boolean | undefined
  /** The limit of processes and threads; undefined if there is none. */
  readonly processes: number | undefined
}

const permitted = /operation not permitted|\bEPERM\b/i
const outside = "No setting allows it: ask the user to run what needs it."

/** Matches sockets other than unix, TCP and UDP. */
const rawSocket =
  /AF_(?:ALG|BLUETOOTH|CAN|PACKET|VSOCK)\b|SOCK_RAW|\braw socket|packet socket|permission to .*\bcapture\b|\bsocket\((?:[3-9]|\d\d+),/
/** Matches the same, and netlink and ping sockets, which are also refused for lack of rights. */
const otherSockets = new RegExp(`${rawSocket.source}|netlink|icmp|^\\w*ping6?\\b`, "i")

export const unixSocket: Refusal = {
  rule: "no unix sockets",
  what: "a unix socket",
  reason: "they would reach programs outside of the sandbox",
  next: "Socket pairs and TCP to localhost work. Ask the user for it."
}

const setId: Refusal = {
  rule: "no set-user-ID files",
  what: "a set-user-ID bit",
  reason: "outside of the sandbox the file would run with your rights",
  next: outside
}

const sharedMemory: Refusal = {
  rule: "limits.sharedMemory",
  what: "a further page of /dev/shm",
  reason: "it is full",
  next: 'Ask the user for more, in MiB: "policy": { "limits": { "sharedMemory": … } } in sandbox.json.'
}

/** Matches commands that set a mode bit, by a digit or by letters. */
const setting = (digits: string, letters: string): RegExp =>
  new RegExp(
    String.raw`\bchmod\b[^;|&\n]{0,80}\s(?:0?${digits}[0-7]{3}\b|(?:${letters}|a)\+\w{0,4}s)|\binstall\b[^;|&\n]{0,80}\s-\w{0,8}m\s?0?${digits}[0-7]{3}\b|\b0o${digits}[0-7]{3}\b`
  )

/** Matches messages of a reached limit. They can also mean a full disk or too many open files. */
const full =
  /no space left on device|\bENOSPC\b|too many open files|\bEMFILE\b|(?:limit|resources)\b.{0,40}\b(?:reached|exhausted)/i

/** Match git's message if gpg could not reach its agent, and programs' messages about an ssh-agent that is missing. */
const unsigned = /gpg failed to sign the data/
const noAgent = /could not open a connection to your authentication agent|couldn't get agent socket/i

/** Matches commands that set no limit of their own. */
const withoutOwnLimit = /^(?![\s\S]*(?:\bulimit\b|rlimit))/i

/** Returns the refusals of a sandbox. The first that fits a message counts. */
const rowsOf = ({ hasAgent = false, isRoot, processes, unixSockets }: Confinement): ReadonlyArray<Row> => [
  {
    rule: "no namespaces or mounts",
    what: "a new namespace",
    reason: "the command has those of the sandbox",
    next: `Programs with a sandbox of their own have an option to do without, such as --no-sandbox. ${outside}`,
    words: /operation not permitted|\bEPERM\b|no permissions to create/i,
    about:
      /\b(?:unshare|setns)\b|\bnamespaces?\b|\bclone(?:\(\))?: |cannot clone|cloning builder process|\bfork\/exec \S+: /i,
    command: /\bunshare\b|\bsetns\b/
  },
  {
    rule: "no namespaces or mounts",
    what: "a mount",
    reason: "the sandbox is made of mounts",
    next: outside,
    words: /permission denied|operation not permitted|\bEPERM\b|must be superuser/i,
    about:
      /^(?:[\w/.-]*\/)?(?:u?mount|fusermount3?|swapo(?:n|ff))(?:\.\w+)?(?:: | --)|\b(?:u?mount2?|pivot_root)\(|\bmount failed/i,
    command: /\b(?:u?mount2?|pivot_root)\(/,
    isSandboxs: isRoot
  },
  {
    rule: "no namespaces or mounts",
    what: "chroot",
    reason: "the sandbox is the root directory of the command",
    next: outside,
    about: /\bchroot\b|change root directory/i,
    command: /\bchroot\b/,
    isSandboxs: isRoot
  },
  {
    rule: "no raw sockets",
    what: "a raw socket",
    reason: "only TCP and UDP sockets can be made",
    next: outside,
    about: rawSocket,
    command: rawSocket,
    isSandboxs: isRoot
  },
  {
    ...unixSocket,
    about:
      /\.sock\b|\/\.s\.PGSQL|\bunix(?:_listener|:| |\b.*\bsocket)|\bAF_UNIX\b|socket\.socket\b|_socket\.|\b(?:make|creat(?:e|ing)|open|bind|private) socket\b|\bsocket(?:\(\d?\))?(?: failed)?: |\bsocket\(\d?\)|error (?:connecting to|creating) \/?\S+ \(|\b(?:connect|listen|bind) EPERM(?!:? (?:operation not permitted )?(?:\d+(?:\.\d+){3}|[\da-f:]*::))|connect(?:ing)? to (?:bus|(?:the )?agent)\b/i,
    command: /\bAF_UNIX\b|\bUNIX\b|--unix-socket\b|\.sock\b|\bunix:/,
    not: otherSockets,
    isSandboxs: !unixSockets
  },
  {
    ...unixSocket,
    next: "git -c commit.gpgsign=false leaves the signature out. The user can add it: git commit --amend -S.",
    words: unsigned,
    about: unsigned,
    isSandboxs: !unixSockets
  },
  {
    ...unixSocket,
    what: "your ssh-agent",
    next: 'Ask the user for --allow-socket "$SSH_AUTH_SOCK".',
    words: noAgent,
    about: noAgent,
    isSandboxs: hasAgent
  },
  {
    ...unixSocket,
    words: /\bcurl: \(7\) /,
    about: /^curl: /,
    only: /--(?:abstract-)?unix-socket\b/,
    isSandboxs: !unixSockets
  },
  {
    rule: "one user",
    what: "becoming another user",
    reason: "commands run as one user, and gain no rights by set-user-ID programs",
    next: outside,
    words: /system error|not permitted|no new privileges|effective uid is not 0|audit interface/i,
    about:
      /^(?:Password: )?su: |^(?:sudo|doas): .*(?:no new privileges|effective uid is not 0|not permitted)|^Cannot open audit interface/i
  },
  {
    rule: "one user",
    what: "another user or group",
    reason: "commands run as one user, and files have no other owner",
    next: `tar --no-same-owner and cp --no-preserve=ownership leave owners out. ${outside}`,
    words: /operation not permitted|\bEPERM\b|invalid argument|\bEINVAL\b/i,
    about:
      /\bch(?:own|grp)\b|\bownership\b|changing group|\bset(?:e|re|res|fs)?[ug]id\b|\b(?:set|init)groups\b|cannot set groups/i,
    command: /\bl?chown\b|\bset(?:e|re|res|fs)?[ug]id\b/,
    isSandboxs: isRoot
  },
  { ...setId, about: /cannot change mode to \S*s/i },
  {
    ...setId,
    about: /chang(?:e|ing) permissions of|\bchmod\b|^PermissionError: \[Errno 1\]/,
    only: isRoot ? setting("[2467]", "u?g?") : setting("[467]", "u")
  },
  {
    rule: "no kernel keyring",
    what: "the kernel's keyring",
    reason: "it is shared with programs outside of the sandbox",
    next: outside,
    about: /\bkeyctl|\b(?:add|request)_key\b/,
    command: /\bkeyctl\b/
  },
  {
    rule: "no io_uring",
    what: "io_uring",
    reason: "it would go round the sandbox's filter",
    next: "Programs have an option to do without.",
    words: /function not implemented|\bENOSYS\b/i,
    about: /\bio_uring/
  },
  {
    rule: "limits.processes",
    what: "a further process or thread",
    reason: `commands have at most ${processes} at a time`,
    next: `Use fewer workers, or ask the user for more: "policy": { "limits": { "processes": ${2 * (processes ?? 0)} } } in sandbox.json.`,
    words: /resource temporarily unavailable|\bEAGAIN\b|start new thread|native thread|errno=11|cannot fork/i,
    about:
      /\bv?fork\b|_fork_exec|can't start new thread|\b(?:creat|spawn|start)\w*\b.{0,40}\bthread|pthread_create|\bspawn(?:Sync)? .*EAGAIN|native thread|init.*worker|worker.*init|\bnew Worker\b|^make(?:\[\d+\])?: /im,
    only: withoutOwnLimit,
    isSandboxs: processes !== undefined
  },
  {
    rule: "limits of inotify",
    what: "a further watch over files",
    reason: "commands have a part of the user's watches; the disk is not full",
    next: "Watch fewer directories, or poll. The user can raise fs.inotify.max_user_watches and max_user_instances (sysctl).",
    words: full,
    about: /inotify|\bfile ?watch|, watch '|\bwatch(?:er|ing)? |to watch\b/i
  },
  {
    ...sharedMemory,
    words: full,
    about: /\/dev\/shm\b|\bshared memory\b|\bshm_open\b|\bposix_fallocate\b/
  },
  { ...sharedMemory, words: /no space left on device|\bENOSPC\b/i, about: /(?:)/, only: /\/dev\/shm\b/ },
  {
    rule: "no root rights",
    what: "a privileged call",
    reason: "root in the sandbox has no rights over the machine",
    next: outside,
    words: /operation not permitted|\bEPERM\b|permission denied|must be root|not allowed to raise/i,
    about:
      /^(?:\S*\/)?(?:chrt|dmesg|hwclock|ionice|mknod|renice|sysctl): |while setting flags on |^RTNETLINK answers|cannot set date|change the host name|CAP_\w+ effective|cannot modify limit|maximum limit|\b(?:mknod|sched_set\w+|setpriority|sethostname|clock_settime)\b/,
    command: /\b(?:mknod|sched_set\w+|setpriority|sethostname|clock_settime)\(/,
    isSandboxs: isRoot
  }
]

/** Matches the words of any of these messages. */
const anyWords = new RegExp(
  String.raw`not permitted|\bEPERM\b|permission denied|no permissions to create|must be (?:superuser|root)|not allowed to raise|invalid argument|\bEINVAL\b|system error|no new privileges|effective uid is not 0|audit interface|function not implemented|\bENOSYS\b|temporarily unavailable|\bEAGAIN\b|start new thread|native thread|errno=11|cannot fork|\bcurl: \(7\) |${noAgent.source}|${unsigned.source}|${full.source}`,
  "i"
)

/** Tests whether a text may report a refused system call anywhere. */
export const mentionsRefusal = (text: string): boolean => anyWords.test(text)

const everyRow = rowsOf({ isRoot: true, unixSockets: false, processes: 0 })

/** Tests whether a line alone says which system call was refused. */
export const isAboutCall = (line: string): boolean =>
  everyRow.some(({ about, not, words = permitted }) => words.test(line) && about.test(line) && not?.test(line) !== true)

/** Returns the text before the words of a refusal. */
export const beforeWords = (line: string): string | undefined => {
  const match = anyWords.exec(line)
  return match === null ? undefined : line.slice(0, match.index)
}

/** Tests whether the text before a refusal names nothing that was refused: no `prog: name: `, no `kill: (1) - `. */
const namesNothing = (before: string): boolean => !/: .+: $| - $/.test(before)

/**
 * Makes the lookup for one sandbox.
 *
 * @param said (of the lookup) the line, and the lines of a stack trace above it
 */
export const make = (
  confinement: Confinement
): ((command: string, line: string, said: string) => Refusal | undefined) => {
  const rows = rowsOf(confinement)
  return (command, line, said) => {
    const before = beforeWords(line) ?? ""
    const row = rows.find(
      ({ about, command: named, not, only, words = permitted }) =>
        words.test(line) &&
        not?.test(said) !== true &&
        (about.test(said) || (named?.test(command) === true && namesNothing(before))) &&
        only?.test(command) !== false
    )
    return row?.isSandboxs === false ? undefined : row
  }
}
