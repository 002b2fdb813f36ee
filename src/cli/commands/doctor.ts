import { InvalidArgumentError, type Command } from 'commander'
import { failed, type Finding, ok, warning } from '../../checks/finding.ts'
import { ConfigError, readConfig, withIssuer, type Config } from '../../config/config.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { IssuerProbe, StoreInspection } from '../../ports/inspection.ts'
import type { OutboundClient } from '../../ports/outbound.ts'
import type { Platform } from '../../server/platform.ts'
import { visible } from '../lib/columns.ts'
import { withJson } from '../lib/options.ts'
import type { Paint, Terminal } from '../lib/terminal.ts'

const COLOURS = { ok: 'green', warning: 'yellow', failed: 'red' } as const

/** `grantor doctor`: exit code 1 when anything failed. */
export function addDoctor(parent: Command, terminal: Terminal): void {
  withJson(parent.command('doctor'))
    .description(
      'Check the configuration, the database, the keys, the clock, the issuer and the providers, and say how to fix problems.',
    )
    .option(
      '--resource <url>',
      'send requests to this API or MCP server as a client does, and compare its metadata with the declared API',
      parseAddress,
    )
    .option(
      '--client-document <url>',
      'fetch this client metadata document as the server does, and say whether it is acceptable',
      parseAddress,
    )
    .option(
      '--deep',
      'read everything: a SQLite file for damage, 20 s for each GB, and all users for password hashes of other systems',
    )
    .action(async ({ json, ...choices }: { readonly json?: true } & Choices) => {
      const findings = await examine(choices)
      const isHealthy = findings.every(({ verdict }) => verdict !== 'failed')
      if (json) terminal.printJson({ healthy: isHealthy, findings })
      else terminal.print(findings.flatMap((finding) => linesOf(finding, terminal.paint)))
      if (!isHealthy) process.exitCode = 1
    })
}

/** What is examined besides the rest. */
interface Choices {
  readonly deep?: true
  /** What is requested besides the issuer. */
  readonly resource?: string
  readonly clientDocument?: string
}

async function examine({ deep, resource, clientDocument }: Choices): Promise<readonly Finding[]> {
  try {
    const given = readConfig()
    const [
      { diagnose },
      { probeIssuer, readForwards },
      { ownOrigin, probeReadiness },
      { inspectStore, inspectWhole, issuerIn },
      { openPlatform },
    ] = await Promise.all([
      import('../../doctor/doctor.ts'),
      import('../../doctor/discovery.ts'),
      import('../lib/readiness.ts'),
      import('../../doctor/inspect-store.ts'),
      import('../../server/platform.ts'),
    ])
    const platform = openPlatform({ ...given, logLevel: 'silent' })
    const inspected = await inspectStore(given)
    const config = given.isIssuerChosen ? given : withIssuer(given, issuerIn(inspected) ?? given.issuer)
    const [probe, readiness] = await Promise.all([probeIssuer(config.issuer), probeReadiness(ownOrigin(config))])
    const now = platform.clock()
    // The probe came through the proxy, so that the node counted it.
    const forwards = await readForwards(config.admin)
    // After the server: while a large file is read this process sees no answer.
    const store = deep === true ? await inspectWhole(inspected, config) : inspected
    return [
      ok('configuration', 'Every setting is acceptable.'),
      ...given.warnings.map((text) => warning('configuration', `${text}.`, 'A server logs this at each start.')),
      ...diagnose({ choices: { ...config, ...config.settings }, store, probe, readiness, forwards, now }),
      ...(await examineProviders(config, platform, store)),
      ...(await examineClientKeys(config, platform, store)),
      ...(await examineMail(config, store, now)),
      ...(await examineHashes(config, store, platform, deep === true)),
      ...(resource === undefined ? [] : await examineResource(resource, config.issuer, probe)),
      ...(clientDocument === undefined ? [] : await examineDocument(clientDocument, config, platform)),
    ]
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    return cause.mistakes.map((mistake) =>
      failed(
        'configuration',
        mistake.replace(/\.?$/, '.'),
        'See "grantor serve --help". The other checks need a valid configuration.',
      ),
    )
  }
}

async function examineResource(resource: string, issuer: string, probe: IssuerProbe): Promise<readonly Finding[]> {
  const [{ checkResource }, { probeResource }] = await Promise.all([
    import('../../checks/resource.ts'),
    import('../../doctor/probe-resource.ts'),
  ])
  const answers = probe.kind === 'answered' && probe.issuer === issuer
  return checkResource(await probeResource(resource, answers ? issuer : undefined), issuer)
}

async function examineProviders(
  config: Config,
  platform: Platform,
  store: StoreInspection,
): Promise<readonly Finding[]> {
  const [{ checkProviders }, { probeProviders }] = await Promise.all([
    import('../../checks/providers.ts'),
    import('../../doctor/probe-providers.ts'),
  ])
  const { clock, random } = platform
  const outbound = await openUnlimitedOutbound(config, platform)
  return checkProviders(await probeProviders(config, store, { clock, random, outbound }), store.clients, config)
}

async function examineClientKeys(
  config: Config,
  platform: Platform,
  { clients }: StoreInspection,
): Promise<readonly Finding[]> {
  const { checkClientKeys, keyHoldersOf } = await import('../../checks/client-keys.ts')
  const outbound = await openUnlimitedOutbound(config, platform)
  const fetching = keyHoldersOf(clients?.newest ?? []).map(async (holder) => {
    const request = { purpose: 'client-keys', url: holder.uri, etag: undefined, isRenewal: false, network: '' } as const
    return checkClientKeys(holder, await outbound.get(request))
  })
  return Promise.all(fetching)
}

async function examineMail(config: Config, store: StoreInspection, now: EpochMs): Promise<readonly Finding[]> {
  const [{ checkMail }, { probeMail }] = await Promise.all([
    import('../../checks/mail.ts'),
    import('../../server/mailing.ts'),
  ])
  return checkMail(await probeMail(config), store.clients?.mailDueAt, now)
}

async function examineHashes(
  config: Config,
  store: StoreInspection,
  platform: Platform,
  isCounted: boolean,
): Promise<readonly Finding[]> {
  const [{ checkForeignHashes }, { settleForeignHashes }] = await Promise.all([
    import('../../checks/passwords.ts'),
    import('../../doctor/foreign-hashes.ts'),
  ])
  const hashes = await settleForeignHashes(config, store, platform, isCounted)
  return hashes === undefined ? [] : [checkForeignHashes(hashes)]
}

async function examineDocument(url: string, config: Config, platform: Platform): Promise<readonly Finding[]> {
  const { checkClientDocument } = await import('../../checks/client-document.ts')
  const outbound = await openUnlimitedOutbound(config, platform)
  const request = { purpose: 'client-document', url, etag: undefined, isRenewal: false, network: '' } as const
  return checkClientDocument(url, await outbound.get(request), config)
}

/** A command has no rates, because no caller can cause its requests. */
async function openUnlimitedOutbound(config: Config, { clock, network }: Platform): Promise<OutboundClient> {
  const { openOutbound } = await import('../../server/outbound.ts')
  const budgets = { take: () => ({ isWithin: true, limit: 1, remaining: 1, resetSeconds: 0 }) }
  return openOutbound(config, { network, clock, budgets, observe: () => undefined })
}

function parseAddress(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
  throw new InvalidArgumentError('Give the http or https address that clients connect to.')
}

function linesOf({ check, verdict, message, remedy }: Finding, paint: Paint): readonly string[] {
  const line = `${paint(COLOURS[verdict], verdict.padEnd(7))}  ${check.padEnd(13)}  ${visible(message)}`
  return remedy === undefined ? [line] : [line, `${' '.repeat(24)}→ ${visible(remedy)}`]
}
