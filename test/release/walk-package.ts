import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { walkArtefact } from '../../prove/artefact.ts'
import { openFindings } from '../../prove/findings.ts'
import { installRelease } from '../../prove/upgrade/releases.ts'

/**
 * Makes a project with the packed package, with the packages that it declares and these, and with no other one. Walks through the server of
 * the package. Returns what was wrong. @throws Error if it does not start
 */
export async function walkPackage(
  project: string,
  packed: string,
  ...others: readonly string[]
): Promise<readonly string[]> {
  const program = join(installRelease(project, packed, ...others), 'bin/grantor.js')
  const findings = openFindings({ isPrinted: false })
  const environment = {
    PATH: process.env['PATH'],
    DATABASE_URL: `sqlite:${join(project, 'grantor.db')}`,
    GRANTOR_DRAIN_SECONDS: '0',
  }
  await walkArtefact(
    {
      settleMs: 0,
      start: (words, settings) =>
        spawn(process.execPath, [program, ...words], { cwd: project, env: { ...environment, ...settings } }),
    },
    findings,
  )
  return findings.violations
}
