import { after, type EpochMs } from '../../base/brand.ts'
import type { FailingProvider } from '../../checks/providers.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import { listAudit, type AuditEntry } from '../audit/list.ts'
import { PAGE_LIMIT } from '../page.ts'
import type { TaskContext } from '../task.ts'

/** A failure before it says nothing of now. */
const WINDOW_MS = 15 * 60_000

/**
 * The enabled providers that gave no acceptable answer of late, on any node, and have signed in no user after that. Sign-ins are read only
 * if there is a failure, and of these at most the newest 1,000.
 */
export async function failingProviders(
  context: TaskContext,
  providers: readonly ProviderRecord[],
): Promise<readonly FailingProvider[]> {
  const enabled = providers.filter(({ disabledAt }) => disabledAt === undefined)
  if (enabled.length === 0) return []
  const failures = await entriesOf(context, 'provider.failed', after(context.clock(), -WINDOW_MS))
  const failing = enabled.flatMap((provider) => {
    const own = failures.filter((entry) => isOf(entry, provider))
    return own.length === 0 ? [] : [{ provider, own, lastAt: Math.max(...own.map(timeOf)) as EpochMs }]
  })
  if (failing.length === 0) return []
  const earliest = Math.min(...failing.map(({ lastAt }) => lastAt)) as EpochMs
  const signIns = await entriesOf(context, 'session.started', earliest)
  return failing
    .filter(({ provider, lastAt }) => !signIns.some((one) => isOf(one, provider) && one.recordedAt > lastAt))
    .map(({ provider, own }) => ({
      id: provider.id,
      name: provider.settings.name,
      count: own.reduce((sum, { details }) => sum + (Number(details?.['again']) || 1), 0),
      reasons: [...new Set(own.map(({ details }) => String(details?.['reason'])))],
      isDown: context.providerSignIn.isDown(provider),
    }))
}

async function entriesOf(
  context: TaskContext,
  event: 'provider.failed' | 'session.started',
  since: EpochMs,
): Promise<readonly AuditEntry[]> {
  return (await listAudit(context, { event, since, before: undefined, limit: PAGE_LIMIT.most })).rows
}

function isOf({ details }: AuditEntry, { id }: ProviderRecord): boolean {
  return details?.['provider'] === id
}

/** Repetitions are recorded when their minute is over. */
function timeOf({ details, recordedAt }: AuditEntry): number {
  return Number(details?.['minute']) || recordedAt
}
