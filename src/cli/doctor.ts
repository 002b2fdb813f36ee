import type { Command } from 'commander'
import { failed, ok, type Finding } from '../admin/finding.ts'
import { openWorld } from '../build.ts'
import { ConfigError, readConfig } from '../config.ts'
import { inspectStore } from '../open-store.ts'
import { visible } from './columns.ts'
import type { Paint, Terminal } from './terminal.ts'
import { withJson } from './verb.ts'

const COLOURS = { ok: 'green', warning: 'yellow', failed: 'red' } as const

/** `grantor doctor`: exit code 1 when anything failed. */
export function addDoctor(parent: Command, terminal: Terminal): void {
  withJson(parent.command('doctor'))
    .description('Check the configuration, the database, the keys, the clock and the issuer, and say how to mend them.')
    .action(async ({ json }: { readonly json?: true }) => {
      const findings = await examine()
      const isHealthy = findings.every(({ verdict }) => verdict !== 'failed')
      if (json) terminal.printJson({ healthy: isHealthy, findings })
      else terminal.print(findings.flatMap((finding) => linesOf(finding, terminal.paint)))
      if (!isHealthy) process.exitCode = 1
    })
}

async function examine(): Promise<readonly Finding[]> {
  try {
    const config = readConfig()
    const [{ diagnose }, { probeIssuer }] = await Promise.all([import('../admin/doctor.ts'), import('./discovery.ts')])
    const [store, probe] = await Promise.all([inspectStore(config), probeIssuer(config.issuer)])
    const now = openWorld({ ...config, logLevel: 'silent' }).clock()
    return [ok('configuration', 'Every setting is acceptable.'), ...diagnose({ choices: config, store, probe, now })]
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    return cause.mistakes.map((mistake) =>
      failed('configuration', `${mistake}.`, 'See "grantor serve --help". Until then nothing else can be checked.'),
    )
  }
}

function linesOf({ check, verdict, message, remedy }: Finding, paint: Paint): readonly string[] {
  const line = `${paint(COLOURS[verdict], verdict.padEnd(7))}  ${check.padEnd(13)}  ${visible(message)}`
  return remedy === undefined ? [line] : [line, `${' '.repeat(24)}→ ${visible(remedy)}`]
}
