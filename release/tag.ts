import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { PURPOSES } from './folder.ts'

/** What a tag of a release is made of. */
export interface Signed {
  readonly version: string
  /** The file of notes. They have the digests of the files, so the tag signs them too. */
  readonly notes: string
  /** The file of the private key. */
  readonly key: string
  /** The file of allowed signers. */
  readonly signers: string
}

/** Says why tags that the keys of this file sign would not verify; nothing if they would. */
export function faultsOfSigners(signers: string): readonly string[] {
  return readFileSync(signers, 'utf8').includes(PURPOSES)
    ? []
    : [`${signers} must say ${PURPOSES}: the key signs the list of files for "grantor-release", and the tag for "git".`]
}

/**
 * Tags the commit that is checked out in this folder as `v<version>`, and verifies the tag as the workflow of releases does.
 *
 * @throws Error with what git printed
 */
export function signTag(checkout: string, { version, notes, key, signers }: Signed): void {
  const git = (...words: readonly string[]): void => {
    execFileSync('git', ['-c', 'gpg.format=ssh', ...words], { cwd: checkout, encoding: 'utf8' })
  }
  git('-c', `user.signingkey=${key}`, 'tag', '--sign', `v${version}`, '--file', notes, '--cleanup=verbatim')
  git('-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-tag', `v${version}`)
}
