/** Writes outside of the whitelist, by every route. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type { Attack, Families } from "../support/escape/Attack.js"
import { type Places, type Setup, write } from "../support/escape/World.js"

/** `$o` is the directory outside; whatever gets through is seen there. */
export const routes: ReadonlyArray<readonly [title: string, script: string, ...needs: ReadonlyArray<string>]> = [
  [">, >>, >|, <>", "echo x > $o/file; echo x >> $o/file; echo x >| $o/file; exec 5<> $o/file; echo x > $o/new"],
  ["tee", "echo x | tee $o/file $o/new"],
  ["cp", "cp README $o/file; cp README $o/new; cp -r pkg $o/directory"],
  ["mv", "mv README $o/new; mv $o/file $o/file2; mv $o/directory ."],
  ["ln", "ln README $o/new; ln -s README $o/new; ln -sf README $o/file; ln $o/file taken && echo x > taken"],
  ["dd", "dd if=README of=$o/file conv=notrunc; dd if=README of=$o/new", "dd"],
  ["rm and rmdir", "rm -rf $o/file $o/directory; rmdir $o/directory"],
  ["truncate", "truncate -s 0 $o/file; truncate -s 9 $o/new", "truncate"],
  ["mkdir", "mkdir $o/new; mkdir -p $o/directory/a/b"],
  ["chmod", "chmod 777 $o $o/file; chmod u+s $o/run.sh"],
  ["chown", "chown 1234 $o/file; chgrp 1234 $o/file"],
  ["touch", "touch -t 200001010000 $o/file; touch $o/new; touch -a $o/file"],
  ["install", "install -m 755 README $o/new"],
  ["sed -i", "sed -i s/p/q/ $o/file"],
  ["git", "git init -q $o/new; git -C $o init -q; git clone -q . $o/clone", "git"],
  ["tar", "tar cf t.tar README; tar xf t.tar -C $o; tar cf $o/t.tar README; tar xPf t.tar --transform=s,^,$o/,", "tar"],
  [
    "python",
    'python3 -c \'import os,sys; o=os.environ["o"]; os.chmod(o,0o777)\'; python3 -c \'import os; open(os.environ["o"]+"/new","w")\'',
    "python3"
  ],
  [
    "perl",
    'perl -e \'open(F, ">", "$ENV{o}/new") or die $!\'; perl -e \'utime(1,1,"$ENV{o}/file") or die $!\'; perl -e \'unlink("$ENV{o}/file") or die $!\'',
    "perl"
  ],
  ["node", 'node -e \'require("fs").writeFileSync(process.env.o+"/new","x")\'', "node"],
  ["setfattr", "setfattr -n user.x -v y $o/file", "setfattr"],
  ["extended attributes", 'python3 -c \'import os; os.setxattr(os.environ["o"]+"/file", "user.x", b"y")\'', "python3"],
  ["mkfifo", "mkfifo $o/new"],
  ["a link in the project", "ln -sfn $o way; echo x > way/file; echo x > way/new; rm way/file"],
  ["/proc/self/root", "echo x > /proc/self/root$o/file; echo x > /proc/1/root$o/new"],
  [
    "a descriptor of the directory",
    'python3 -c \'import os; d=os.open(os.environ["o"],os.O_RDONLY); os.open("new",os.O_CREAT|os.O_WRONLY,dir_fd=d)\'',
    "python3"
  ],
  [
    "a file opened for reading, opened again for writing",
    "exec 5< $o/file; echo x > /proc/self/fd/5; echo x > /dev/fd/5"
  ],
  ["rename into the project and back", "mv $o/file stolen; mv stolen $o/file; mv -f README $o/file"],
  [
    "renameat2 exchange",
    'python3 -c \'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); o=os.environ["o"].encode(); l.syscall(316,-100,b"README",-100,o+b"/file",2) == 0 or print(os.strerror(ctypes.get_errno()))\'',
    "python3"
  ],
  ["the parent directory", "echo x > ../new; mkdir ../dir; mv ../project ../project2; rmdir ../home"],
  [
    "/etc, /usr, / and the home directory",
    `echo x > /etc/escape-$$; echo x > /usr/bin/escape-$$; echo x > /escape-$$; echo x > "$u/.bashrc"; echo x >> "$u/notes"; mkdir "$u/.ssh/x"`
  ],
  ["crontab", "echo '* * * * * id' | crontab - && echo BREACH; echo denied >&2", "crontab"],
  ["at", "echo id | at now && echo BREACH; echo denied >&2", "at"],
  ["the directories of what runs later", "mkdir /var/spool/x /var/spool/cron/x /etc/cron.d/x && echo BREACH"]
]

const outside: ReadonlyArray<Attack> = routes.map(([title, script, ...needs]) => ({
  title,
  needs,
  says: /Read-only|denied|cross-device|busy|not permitted|EROFS|errno/i,
  script: (places: Places) => `export o=${places.outside} u=${places.home}\n${script}`,
  after: ({ base }) =>
    Effect.sync(() => {
      const names = Fs.readdirSync(base).sort().join(" ")
      if (names !== "home outside project") throw new Error(`made in the parent: ${names}`)
    })
}))

const isKept = (path: string, text: string) =>
  Effect.sync(() => {
    if (Fs.readFileSync(path, "utf8") !== text) throw new Error(`${path} was changed`)
  })

const refused = /Read-only|busy|denied|not permitted|cross-device/

const policy: ReadonlyArray<Attack> = [
  ["writing", "echo '{\"enabled\":false}' > own/.synapse/sandbox.json; echo x >> own/.synapse/sandbox.json"],
  [
    "replacing",
    "echo '{\"enabled\":false}' > n.json; mv -f n.json own/.synapse/sandbox.json; cp n.json own/.synapse/; ln -sf $PWD/n.json own/.synapse/sandbox.json"
  ],
  ["removing", "rm -rf own/.synapse; rm -f own/.synapse/sandbox.json; truncate -s0 own/.synapse/sandbox.json"],
  [
    "renaming its directories",
    "mv own/.synapse own/x; mv own other; mkdir -p own/.synapse && echo '{\"enabled\":false}' > own/.synapse/sandbox.json"
  ],
  [
    "adding to its directory",
    "touch own/.synapse/sandbox.json.lock own/.synapse/x; mkdir own/.synapse/d; chmod 777 own/.synapse"
  ],
  ["writing to the program", "echo x > program/main.cjs; rm -f program/main.cjs; mv program p2; touch program/new"]
].map(
  ([title = "", script = ""]): Attack => ({
    title: `the policy's file and the program: ${title}`,
    says: refused,
    script,
    after: ({ project }) =>
      Effect.zipRight(
        isKept(`${project}/own/.synapse/sandbox.json`, "{}"),
        isKept(`${project}/program/main.cjs`, "program")
      )
  })
)

const sessions: ReadonlyArray<Attack> = [
  {
    title: "other sessions' directories are not to be seen",
    script: ({ temporary }) =>
      `cd ${temporary}/synapse-*; cat foreign/command; ls foreign && echo BREACH; ls sandbox-* && echo BREACH; test "$(ls | wc -l)" = 1 || { ls; echo BREACH; }`
  },
  {
    title: "other sessions' FIFOs are not to be written to",
    script: ({ temporary }) =>
      `for f in ${temporary}/synapse-*/foreign/fifo; do timeout 1 sh -c "echo x > $f" && echo BREACH; done; true`,
    says: /No such file|nonexistent|Directory|Read-only/i
  },
  {
    title: "the own session's command file and directory",
    says: refused,
    script: ({ temporary }) =>
      `d=$(echo ${temporary}/synapse-*/*/); for f in $d*; do test -f "$f" && echo x > $f && echo BREACH; rm -f $f && echo BREACH; mv $f $f.x && echo BREACH; done 2>&1; echo x > $d/new && echo BREACH; mkdir $d/dir && echo BREACH; true`
  },
  {
    title: "the directory of all sessions",
    says: refused,
    script: ({ temporary }) =>
      `cd ${temporary}; s=$(echo synapse-*); mv $s gone && echo BREACH; rm -rf $s && echo BREACH; touch $s/x && echo BREACH; ln -s /etc $s/etc && echo BREACH; cd ..; mv tmp tmp2 && echo BREACH; true`
  }
]

export const writes: Families = { "writes outside": outside }

export const own: Families = { "what is our own": policy, sessions }

export const ofOwn: Setup = {
  prepare: ({ project, secret, temporary }) => {
    write(`${project}/own/.synapse/sandbox.json`, "{}")
    write(`${project}/program/main.cjs`, "program")
    const sessions = Path.join(temporary, `synapse-${process.getuid?.()}`)
    write(Path.join(sessions, "foreign", "command"), secret)
    Fs.chmodSync(sessions, 0o700)
  },
  synapseHome: ({ project }) => `${project}/own/.synapse`,
  program: ({ project }) => [`${project}/program`]
}
