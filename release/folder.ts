import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStatement, STATEMENT } from './statement.ts'

/** The folder of a release: its files, `SHA256SUMS` over all of them, and the signature of that (docs/verify.md). */

const SUMS = 'SHA256SUMS'
const SIGNATURE = `${SUMS}.sig`
/** Who signs, in the file of allowed signers, and what for: a signature for another purpose is refused (ssh-keygen(1), -Y verify). */
const SIGNER = 'release@grantor'
const PURPOSE = 'grantor-release'
/** In the line of a signer. git signs tags for the purpose `git`, whatever the tag is for. */
export const PURPOSES = `namespaces="${PURPOSE},git"`
const SUM = /^([0-9a-f]{64}) {2}([\w.-]+)$/

/** Writes the sums of all files in the folder, as sha256sum(1) does, and signs them with an SSH key. */
export function sealFolder(folder: string, key: string): void {
  const sums = filesOf(folder).map((name) => `${digestOfFile(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, SUMS), sums.join(''))
  execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', PURPOSE, join(folder, SUMS)], { stdio: 'inherit' })
}

/** The line of a file of allowed signers for a public key, such as `ssh-ed25519 AAAA…`. */
export function signerLine(publicKey: string): string {
  return `${SIGNER} ${PURPOSES} ${publicKey.trim()}\n`
}

/**
 * Says what is wrong with the folder of a release; nothing if it is what the owner of the key signed. `signers`: the file of allowed signers.
 * A file that the sums do not name is a fault, too, because a person would take it for a part of the release; and so is a link, because
 * what it leads to can change after this.
 */
export function faultsOfFolder(folder: string, signers: string): readonly string[] {
  const present = readdirSync(folder)
  const others = present.filter((name) => !lstatSync(join(folder, name)).isFile())
  if (others.length > 0) return others.map((name) => `${quoted(name)} is no regular file.`)
  const missing = [SUMS, SIGNATURE].filter((name) => !present.includes(name))
  if (missing.length > 0) return missing.map((name) => `${quoted(name)} is missing.`)
  const sums = join(folder, SUMS)
  // A file as its input: ssh-keygen may end before it has read the sums, which would break a pipe.
  const input = openSync(sums, 'r')
  const words = ['-Y', 'verify', '-f', signers, '-I', SIGNER, '-n', PURPOSE, '-s', join(folder, SIGNATURE)]
  const signature = spawnSync('ssh-keygen', words, { stdio: [input, 'pipe', 'pipe'], encoding: 'utf8' })
  closeSync(input)
  if (signature.error !== undefined) return [`ssh-keygen cannot be run: ${signature.error.message}`]
  // Nothing else says anything without it.
  if (signature.status !== 0) return [`${SIGNATURE} is no signature of ${SUMS}: ${signature.stderr.trim()}`]
  const lines = readFileSync(sums, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => SUM.exec(line) ?? [line, '', ''])
  const named = new Map(lines.map(([, digest = '', name = '']) => [name, digest]))
  const files = filesOf(folder)
  const faults = [
    ...lines.filter(([, digest]) => digest === '').map(([line = '']) => `${SUMS} has the line ${quoted(line)}.`),
    ...files.filter((name) => !named.has(name)).map((name) => `${quoted(name)} is not in ${SUMS}.`),
    ...[...named.keys()]
      .filter((name) => name !== '' && !files.includes(name))
      .map((name) => `${quoted(name)} is missing.`),
    ...files
      .filter((name) => named.has(name) && named.get(name) !== digestOfFile(join(folder, name)))
      .map((name) => `${quoted(name)} is not the file that was signed.`),
  ]
  return faults.length > 0 ? faults : faultsOfStatement(folder, files, named)
}

/** What the release was made from is said of each file that people run or read by program. */
function faultsOfStatement(
  folder: string,
  files: readonly string[],
  digests: ReadonlyMap<string, string>,
): readonly string[] {
  const [name, ...others] = files.filter((file) => STATEMENT.test(file))
  if (name === undefined || others.length > 0) return ['There is not one statement of provenance.']
  const subjects = new Map(
    readStatement(join(folder, name)).subject.map((subject) => [subject.name, subject.digest.sha256]),
  )
  const described = files.filter((file) => file !== name && file !== NOTES)
  return [...new Set([...described, ...subjects.keys()])]
    .filter((file) => subjects.get(file) !== digests.get(file))
    .map((file) => `The statement of provenance is about another ${quoted(file)}.`)
}

/** A text of others as JSON has it, and in ASCII: a terminal also obeys controls that JSON leaves as they are, such as U+009B. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export const NOTES = 'NOTES.md'

/** The files that the sums are about. */
export function filesOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name !== SUMS && name !== SIGNATURE)
    .toSorted()
}

/** SHA-256 of a file, in hex. */
export function digestOfFile(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
