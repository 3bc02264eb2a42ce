/** Commands that leave processes behind which hold their output, and what their results have to hold. */
interface Leftover {
  readonly command: string
  readonly stdout?: string
  readonly stderr?: string
  /** True where a job goes on. */
  readonly isHeld?: boolean
}

const script = (text: string) => `printf '%s\\n' '${text}' > s.sh; bash s.sh`

/** Their process substitutions still write after they have ended. */
export const substitutions: ReadonlyArray<Leftover> = [
  { command: script("exec > >(tee -a log) 2>&1\necho hi; echo err >&2"), stdout: "hi\nerr\n" },
  { command: "bash -c 'exec > >(tee -a log) 2>&1; echo hi; echo err >&2'", stdout: "hi\nerr\n" },
  { command: "bash -c 'exec > >(sleep 0.3; cat); echo orphan'", stdout: "orphan\n" },
  { command: "bash -c 'bash -c \"exec > >(sleep 0.2; cat); echo deep\"'", stdout: "deep\n" },
  { command: "(exec > >(tee -a log) 2>&1; echo subshell)", stdout: "subshell\n" },
  { command: "exec > >(tee -a log) 2>&1; echo own", stdout: "own\n" },
  { command: "f(){ echo hi > >(sleep 0.02; cat); }; f", stdout: "hi\n" },
  { command: "x='>'; eval \"echo hi $x $x(sleep 0.2; cat)\"", stdout: "hi\n" },
  { command: "echo err 2> >(cat) >&2 > >(sleep 0.2; cat >&2)", stdout: "err\n" },
  { command: "echo hi | tee >(sleep 0.2; cat) >(sleep 0.3; cat) >/dev/null", stdout: "hi\nhi\n" },
  { command: 'seq 3 > >(while read -r line; do sleep 0.1; echo "<$line>"; done)', stdout: "<1>\n<2>\n<3>\n" },
  { command: "echo hi > >(cat > >(sleep 0.2; cat))", stdout: "hi\n" },
  { command: "head -c 3000000 /dev/zero > >(sleep 0.1; wc -c)", stdout: "3000000\n" },
  { command: "grep -m1 x < <(echo x; sleep 0.2; echo err >&2)", stdout: "x\n", stderr: "err\n" },
  { command: "echo hi > >(node -e 'process.stdin.pipe(process.stdout)')", stdout: "hi\n" },
  { command: "set -m; echo hi > >(sleep 0.2; cat); set +m", stdout: "hi\n" },
  { command: "bash -c 'exec > >(sleep 0.2; cat; exit 3); echo hi; exit 0'", stdout: "hi\n" },
  { command: "(exec > >(cat); sleep 61 & echo both)", stdout: "both\n", isHeld: true },
  { command: "exec > >(tee -a log) 2>&1; echo hi; sleep 61 &", stdout: "hi\n", isHeld: true },
  { command: "exec 8> >(tee log2); echo kept >&8", stdout: "kept\n", isHeld: true }
]

/** They start what runs on, and must not wait for it. */
export const background: ReadonlyArray<Leftover> = [
  { command: "sleep 61 &", isHeld: true },
  { command: "sleep 61 & sleep 62 & echo on", stdout: "on\n", isHeld: true },
  { command: "(sleep 61 &); echo on", stdout: "on\n", isHeld: true },
  { command: "bash -c 'sleep 61 & echo on'", stdout: "on\n", isHeld: true },
  { command: "echo x | sleep 61 &", isHeld: true },
  { command: "bash -c 'echo x | sleep 61 &'", isHeld: true },
  { command: "bash -c 'echo x | { sleep 61; cat; } &'", isHeld: true },
  { command: "sh -c 'echo x | sleep 61 &'", isHeld: true },
  { command: "set -m; echo x | sleep 61 & set +m", isHeld: true },
  { command: "echo x | nohup sleep 61 & disown", isHeld: true },
  { command: "echo x | setsid sleep 61 &", isHeld: true },
  { command: "setsid -f sleep 61", isHeld: true },
  { command: "coproc { sleep 61; }", isHeld: true },
  // A program that stops ignoring signals looks like a substitution, and its children too.
  { command: "echo x | node -e 'for (;;);' &", isHeld: true },
  {
    command: "echo x | node -e 'require(`child_process`).spawnSync(`sleep`, [61], { stdio: `inherit` })' &",
    isHeld: true
  },
  { command: "touch log; tail -f log | grep --line-buffered x &", isHeld: true },
  { command: "echo x > log; grep -m1 x < <(exec tail -f log)", stdout: "x\n" },
  { command: ": '>(' ; sleep 61 &", isHeld: true },
  { command: "exec 7>&1; echo on", stdout: "on\n", isHeld: true },
  { command: "sleep 61 >/dev/null 2>&1 &", isHeld: true },
  { command: "sleep 61 >/dev/null &", isHeld: true }
]
