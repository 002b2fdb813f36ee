import type * as z from 'zod'
import { AdminError, noSuchOrganization } from '../admin/admin-error.ts'
import { listNaming } from '../admin/group/group.ts'
import { noSuchProvider } from '../admin/provider/provider.ts'
import { atTimeOfDatabase } from '../admin/run-task.ts'
import type { TaskContext } from '../admin/task.ts'
import { noteForeignHashes } from '../doctor/foreign-hashes.ts'
import { type GroupId, organizationOfGroup } from '../protocol/access/group.ts'
import type { OrganizationId } from '../protocol/ids.ts'
import { APPLICATION } from '../protocol/sign-in/authentication.ts'
import { importClient } from './import-client.ts'
import { digestOf } from './input-file.ts'
import { openPatience, patientStore, type Patience } from './patient-store.ts'
import { losesFactor, planUser, type PlannedUser, type UserPlace } from './plan-user.ts'
import type { ImportReason } from './reasons.ts'
import {
  IMPORTED,
  type ImportedClient,
  type ImportedGroup,
  type ImportedOrganization,
  type ImportedUser,
  type SourceRecord,
} from './records.ts'
import { detailOf, factorsLostOf, loggable, membersOf } from './report-names.ts'
import { openOutput, termOf, type OutputFile, type ReportLine } from './report.ts'
import type { Source, SourceFiles } from './source.ts'
import { storeUsers, type StoredUser } from './store-users.ts'
import { openTally, type ImportCounts, type Tally } from './tally.ts'

/** What the operator wants of an import. */
export interface ImportOptions extends Patience {
  readonly files: SourceFiles
  readonly isDryRun: boolean
  readonly isUpdate: boolean
  readonly mayLoseFactors: boolean
  readonly only: 'users' | 'clients' | undefined
  /** Every user becomes a member. */
  readonly organizationId: string | undefined
  /** Which provider here has the identities of one there. */
  readonly providers: ReadonlyMap<string, string>
  /** The path of the report, and of the file for new secrets of clients. */
  readonly report: string | undefined
  readonly secrets: string | undefined
}

/** Users that are submitted at a time, and share a commit. */
const AT_ONCE = 100
interface Import extends UserPlace {
  readonly context: TaskContext
  readonly options: ImportOptions
  readonly tally: Tally
  readonly report: OutputFile
  readonly keepSecret: ((clientId: string, secret: string) => void) | undefined
  readonly knownOrganizations: Set<string>
  readonly knownGroups: Set<GroupId>
  /** The line of each id and each address. */
  readonly seen: Map<string, number>
  readonly batch: Waiting[]
  /** The costs of the hashes that were stored. */
  readonly notedCosts: Set<string>
}

/** A user that is submitted with others, or a record of which is known what became of it: the report has the order of the file. */
type Waiting = { readonly record: SourceRecord } & (
  | { readonly kind: 'planned'; readonly plan: PlannedUser }
  | { readonly kind: 'noted'; readonly noted: Noted }
)

/**
 * Imports users, organizations and clients of another system. All records are read first: if an account would lose a second factor, nothing is
 * written. A second run finds what the first has stored.
 *
 * @throws Error when a file cannot be read, or has changed meanwhile; AdminError when second factors would be lost, an option names what
 *   does not exist, or the clock differs
 */
export async function runImport(given: TaskContext, system: Source, options: ImportOptions): Promise<ImportCounts> {
  const patient = openPatience(options)
  const there = { ...given, store: patientStore(given.store, patient) }
  // All times of the import are that of its begin. What came later of an account that is changed ends with the change.
  const context = options.isDryRun ? there : await patient(() => atTimeOfDatabase(there))
  const paths = system.paths(options.files)
  const sha256 = digestOf(paths)
  const place = await openPlace(context, system, options)
  const report = openOutput(options.report, AT_ONCE)
  const secrets = openOutput(options.isDryRun ? undefined : options.secrets, 1)
  const running: Import = {
    ...place,
    context,
    options,
    tally: openTally(),
    report,
    keepSecret:
      options.secrets === undefined
        ? undefined
        : (id, secret) => secrets.write({ client_id: id, client_secret: secret }),
    knownOrganizations: new Set(place.organizations),
    knownGroups: new Set(),
    seen: new Map(),
    batch: [],
    notedCosts: new Set(),
  }
  try {
    const lostFactors = options.mayLoseFactors ? 0 : countLostFactors(running, system)
    if (lostFactors > 0 && !options.isDryRun) throw lostFactorsError(lostFactors)
    for (const record of recordsOf(system, options)) await take(running, record)
    await flush(running)
    // Failed sign-ins are delayed for as long after the last user came as after the first.
    if (running.notedCosts.size > 0) await noteForeignHashes(context, [...running.notedCosts])
    if (digestOf(paths) !== sha256)
      throw new Error(`${paths.join(', ')}: a file changed while it was read. Run the command again.`)
    if (!options.isDryRun) {
      const details = { source: system.verb, sha256, ...running.tally.outcomes() }
      await context.store.recordEvent({ event: 'import.finished', details })
    }
    return { ...running.tally.counts(), sha256, lostFactors }
  } finally {
    report.close()
    secrets.close()
  }
}

/** @throws AdminError when an option names what does not exist */
async function openPlace(
  context: TaskContext,
  system: Source,
  { mayLoseFactors, organizationId, providers: chosen }: ImportOptions,
): Promise<UserPlace> {
  const providers = await context.store.listProviders()
  const unknown = [...chosen.values()].find((id) => id !== APPLICATION && !providers.some((one) => one.id === id))
  if (unknown !== undefined) throw noSuchProvider(unknown)
  const organizations = organizationId === undefined ? [] : [organizationId as OrganizationId]
  for (const id of organizations)
    if ((await context.store.findOrganization(id)) === undefined) throw noSuchOrganization(id)
  return {
    context,
    system: system.verb,
    providers,
    providerOf: (there) => chosen.get(there) ?? (system.namesProvidersHere ? there : undefined),
    organizations,
    mayLoseFactors,
  }
}

function* recordsOf(system: Source, { files, only }: ImportOptions): Generator<SourceRecord> {
  for (const record of system.read(files)) {
    const isClient = record.kind === 'client'
    if (only === undefined || (only === 'clients') === isClient) yield record
  }
}

/** Reads all users before the first is stored. A dry run goes on, so that its report has all records. */
function countLostFactors({ report, options }: Import, system: Source): number {
  let lost = 0
  for (const record of recordsOf(system, options)) {
    if (record.kind !== 'user' || !losesFactor(record.value)) continue
    lost += 1
    const noted = {
      outcome: 'refused',
      reasons: ['second_factor_lost'],
      detail: detailOf(factorsLostOf(record)),
    } as const
    if (!options.isDryRun) report.write(lineOf(record, noted))
  }
  return lost
}

/** threats.md IMP-13. */
function lostFactorsError(lost: number): AdminError {
  const accounts = lost === 1 ? '1 account has' : `${lost} accounts have`
  return new AdminError(
    `${accounts} a second factor that cannot be moved, so nothing was written. --report lists them. To import them without it: --without-second-factor`,
    'conflict',
  )
}

async function take(running: Import, record: SourceRecord): Promise<void> {
  const { kind, value, skipped, impossible } = record
  if (skipped !== undefined) return wait(running, record, { outcome: 'skipped', reasons: [skipped], detail: undefined })
  if (impossible !== undefined) return refuse(running, record, impossible.reason, impossible.detail)
  if (value === undefined) return refuse(running, record, 'line_malformed')
  const read = IMPORTED[kind].safeParse(value)
  if (!read.success && hasOnlyBadId(read.error.issues, record)) return refuse(running, record, 'id_reserved')
  if (!read.success) return refuse(running, record, 'record_malformed', membersOf(read.error.issues, record))
  if (read.data.type === 'user') return takeUser(running, record, read.data)
  await flush(running)
  if (read.data.type === 'organization') return takeOrganization(running, record, read.data)
  if (read.data.type === 'group') return takeGroup(running, record, read.data)
  return takeClient(running, record, read.data)
}

async function takeUser(running: Import, record: SourceRecord, user: ImportedUser): Promise<void> {
  const { context, batch, seen } = running
  const plan = planUser(running, user, context.clock())
  if (plan.kind === 'refused')
    return refuse(
      running,
      record,
      plan.reason,
      detailOf(plan.reason === 'second_factor_lost' ? factorsLostOf(record) : []),
    )
  const { id, email } = plan.account.user
  const keys = email === undefined ? [id] : [id, email]
  const earlier = keys.map((key) => seen.get(key)).find((line) => line !== undefined)
  if (earlier !== undefined) return refuse(running, record, 'record_repeated', `line ${earlier}`)
  for (const key of keys) seen.set(key, record.line)
  for (const { organizationId } of plan.account.memberships)
    if (!(await isKnown(running, organizationId))) return refuse(running, record, 'organization_unknown')
  batch.push({ kind: 'planned', record, plan: await withKnownGroups(running, plan) })
  if (batch.length === AT_ONCE) await flush(running)
}

async function refuse(running: Import, record: SourceRecord, reason: ImportReason, detail?: string): Promise<void> {
  return wait(running, record, { outcome: 'refused', reasons: [reason], detail })
}

/** The line comes after those of the users who wait to be stored. */
async function wait(running: Import, record: SourceRecord, noted: Noted): Promise<void> {
  running.batch.push({ kind: 'noted', record, noted })
  if (running.batch.length === AT_ONCE) await flush(running)
}

async function isKnown({ context, knownOrganizations: known }: Import, id: OrganizationId): Promise<boolean> {
  if (!known.has(id) && (await context.store.findOrganization(id)) !== undefined) known.add(id)
  return known.has(id)
}

async function flush(running: Import): Promise<void> {
  const { context, options } = running
  const batch = running.batch.splice(0)
  const plans = batch.flatMap((one) => (one.kind === 'planned' ? [one.plan] : []))
  await noteCosts(running, plans)
  const outcomes = (await storeUsers(context, plans, options)).values()
  for (const one of batch) {
    if (one.kind === 'noted') note(running, one.record, one.noted)
    else note(running, one.record, notedOf(one, outcomes.next().value as StoredUser))
  }
}

/** The plan without the groups that do not exist. */
async function withKnownGroups({ context, knownGroups: known }: Import, plan: PlannedUser): Promise<PlannedUser> {
  const unknown = new Set<GroupId>()
  for (const { groupId } of plan.account.groups) {
    if (known.has(groupId)) continue
    if ((await context.store.findGroup(groupId)) === undefined) unknown.add(groupId)
    else known.add(groupId)
  }
  const droppedGroups = [...plan.droppedGroups, ...unknown]
  if (droppedGroups.length === 0) return plan
  const groups = plan.account.groups.filter(({ groupId }) => !unknown.has(groupId))
  return { ...plan, account: { ...plan.account, groups }, droppedGroups, notes: [...plan.notes, 'group_dropped'] }
}

function notedOf(
  { record, plan }: Extract<Waiting, { readonly kind: 'planned' }>,
  { outcome, differing }: StoredUser,
): Noted {
  switch (outcome) {
    case 'email-taken':
      return { outcome: 'refused', reasons: ['email_taken'] }
    case 'identity-taken':
      return { outcome: 'refused', reasons: ['identity_taken'] }
    case 'id-taken':
      return { outcome: 'refused', reasons: ['id_taken'] }
    case 'created':
    case 'same':
    case 'differs':
    case 'updated':
      return {
        outcome,
        reasons: [...new Set([...record.notes, ...plan.notes])],
        id: plan.account.user.id,
        detail: detailOf([
          ...differing,
          ...new Set(plan.dropped.map((name) => `identity of ${termOf(name) ?? '…'}`)),
          ...new Set(plan.droppedGroups.map((name) => `group ${termOf(name) ?? '…'}`)),
          ...(plan.notes.includes('second_factor_lost') ? factorsLostOf(record) : []),
        ]),
      }
  }
}

/** Before the first hash of such costs is stored, so that failed sign-ins are delayed in time. */
async function noteCosts({ context, options, notedCosts }: Import, plans: readonly PlannedUser[]): Promise<void> {
  const costs = new Set(plans.map((plan) => plan.costs).filter((one) => one !== undefined))
  const added = costs.difference(notedCosts)
  if (added.size === 0 || options.isDryRun) return
  for (const one of added) notedCosts.add(one)
  await noteForeignHashes(context, [...added])
}

async function takeOrganization(
  running: Import,
  record: SourceRecord,
  { id: text, name, disabled }: ImportedOrganization,
): Promise<void> {
  const { context, options, knownOrganizations } = running
  const id = text as OrganizationId
  const now = context.clock()
  knownOrganizations.add(id)
  const known = await context.store.findOrganization(id)
  const made = { id, name, createdAt: now, disabledAt: disabled ? now : undefined, notBefore: now }
  const created =
    known === undefined && (options.isDryRun || (await context.store.createOrganization(made)) === 'created')
  // Without an answer of the store it may have been created by this import.
  const stored = created ? undefined : (known ?? (await context.store.findOrganization(id)))
  const differing = created
    ? []
    : [
        ...(stored?.name === name ? [] : ['name']),
        ...((stored?.disabledAt !== undefined) === disabled ? [] : ['disabled']),
      ]
  const outcome = differing.length > 0 ? 'differs' : created ? 'created' : 'same'
  note(running, record, { outcome, reasons: [], id, detail: detailOf(differing) })
}

async function takeGroup(running: Import, record: SourceRecord, { id, name = id }: ImportedGroup): Promise<void> {
  const { context, options, knownGroups } = running
  const organizationId = organizationOfGroup(id)
  const known = await context.store.findGroup(id)
  const made = { id, organizationId, name, isProtected: false, createdAt: context.clock() }
  const isNamed = known === undefined && (await listNaming(context, id)).length > 0
  const isCreated = known === undefined && !isNamed && !options.isDryRun
  const created = isCreated ? await context.store.createGroup(made) : undefined
  const isOrphan = organizationId !== undefined && !(await isKnown(running, organizationId))
  if (isNamed || isOrphan || created === 'unknown' || created === 'too-many')
    return note(running, record, { outcome: 'refused', reasons: ['group_not_possible'], detail: undefined })
  knownGroups.add(id)
  // Without an answer of the store it may have been created by this import.
  const stored = created === 'id-taken' ? await context.store.findGroup(id) : known
  const isOther = stored !== undefined && stored.name !== name
  const outcome = isOther ? 'differs' : stored === undefined ? 'created' : 'same'
  note(running, record, { outcome, reasons: [], id, detail: isOther ? 'name' : undefined })
}

async function takeClient(running: Import, record: SourceRecord, client: ImportedClient): Promise<void> {
  const { context, options, keepSecret, system } = running
  const { outcome, reasons, detail, dropped, refusedUris } = await importClient(context, client, {
    source: system,
    isDryRun: options.isDryRun,
    foreignHash: record.secretHash,
    keepSecret,
  })
  const id = outcome === 'refused' ? undefined : client.client_id
  const lost = [...new Set([...record.dropped, ...dropped])]
  const isLess = outcome !== 'refused' && lost.length > 0
  note(
    running,
    { ...record, dropped: lost },
    {
      outcome,
      reasons: [...record.notes, ...reasons, ...(isLess ? ['member_dropped' as const] : [])],
      detail: isLess ? [detail, `not taken: ${lost.join(', ')}`].filter((one) => one !== undefined).join('; ') : detail,
      id,
    },
  )
  for (const uri of refusedUris) {
    const line = { outcome: 'refused', reasons: ['redirect_uri_refused'], detail: loggable(uri), id } as const
    running.report.write(lineOf({ ...record, kind: 'redirect_uri' }, line))
    running.tally.addUri()
  }
}

type Noted = Pick<ReportLine, 'outcome' | 'reasons' | 'detail'> & { readonly id?: string | undefined }

function note({ report, tally }: Import, record: SourceRecord, noted: Noted): void {
  report.write(lineOf(record, noted))
  tally.add(record, noted)
}

/** The line as the file has it. */
function lineOf(
  { line, kind, sourceId }: Omit<SourceRecord, 'kind'> & Pick<ReportLine, 'kind'>,
  { outcome, reasons, detail, id }: Noted,
): object {
  return {
    line,
    kind,
    source_id: sourceId ?? null,
    id: id ?? null,
    outcome,
    reason: reasons.length === 0 ? null : reasons.join(' '),
    ...(detail === undefined ? {} : { detail }),
  }
}

/** Whether nothing but the form of the id speaks against a record. A user gets another id instead. */
function hasOnlyBadId(issues: readonly z.core.$ZodIssue[], { kind, sourceId }: SourceRecord): boolean {
  const member = kind === 'client' ? 'client_id' : 'id'
  return kind !== 'user' && (sourceId ?? '') !== '' && issues.every(({ path }) => path[0] === member)
}
