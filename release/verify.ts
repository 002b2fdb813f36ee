import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildFiles, originsHere } from './contents.ts'
import { digestOfFile, faultsOfFolder, filesOf } from './folder.ts'
import { differences, readStatement, STATEMENT, subjectOf, type Statement } from './statement.ts'

/**
 * `npm run verify -- <folder>`: checks the signature and the sums of a release, makes its files again in this checkout, and compares them
 * (docs/verify.md).
 */

const USAGE = 'npm run verify -- <folder of the release> [--signers <file>] [--sums-only]'
const SIGNERS = 'release/allowed_signers'

const OPTIONS = {
  signers: { type: 'string', default: SIGNERS },
  'sums-only': { type: 'boolean', default: false },
} as const

/** Makes the files of a release again. Returns those that differ. @throws Error when this checkout cannot make them */
async function rebuild(folder: string, statement: Statement): Promise<readonly string[]> {
  const other = differences(statement, originsHere())
  if (other.length > 0)
    throw new Error(`This checkout makes other files, because something differs:\n  ${other.join('\n  ')}`)
  const again = mkdtempSync(join(tmpdir(), 'grantor-verify-'))
  try {
    const own = process.arch === 'arm64' ? 'arm64' : 'x64'
    // It is the Node.js of the statement.
    await buildFiles(again, [own], true)
    for (const file of filesOf(again)) console.log(`  ${digestOfFile(join(again, file))}  ${file}`)
    return filesOf(again).filter((file) => digestOfFile(join(again, file)) !== digestOfFile(join(folder, file)))
  } finally {
    rmSync(again, { recursive: true })
  }
}

async function verify(words: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true })
  const [folder] = positionals
  if (folder === undefined || positionals.length > 1) throw new Error(USAGE)
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`)
  if (!existsSync(values.signers))
    throw new Error(`There is no ${values.signers}, the public key of releases: name its file with --signers.`)
  const faults = faultsOfFolder(folder, values.signers)
  if (faults.length > 0) throw new Error(`Do not use these files.\n  ${faults.join('\n  ')}`)
  const files = filesOf(folder)
  const statement = readStatement(join(folder, files.find((file) => STATEMENT.test(file)) ?? ''))
  // The name of the folder is not signed: an older release may be in it.
  console.log(`The signature, the sums and the statement are right: ${files.length} files of ${subjectOf(statement)}.`)
  if (values['sums-only']) return
  console.log('Making them again …')
  const different = await rebuild(folder, statement)
  if (different.length > 0) throw new Error(`This checkout makes another ${different.join(', another ')}.`)
  console.log('This checkout makes the same files.')
}

try {
  await verify(process.argv.slice(2))
} catch (cause) {
  console.error(`verify: ${(cause as Error).message}`)
  process.exitCode = 1
}
