import type { StoreNeeds } from '../../ports/context.ts'
import { parseUserId, type UserId } from '../../protocol/ids.ts'
import { listAudit } from '../audit/list.ts'

type Needs = StoreNeeds<'findListEnd' | 'findRole' | 'findUser' | 'listAuditLinks'>

/** What an administrator did to an account by which that administrator may be able to sign in to it, in words. */
const TRACES: Readonly<Record<string, string>> = {
  'user.created': 'created it',
  'user.password-changed': 'set its password',
  'user.email-changed': 'set its address',
  'link.created': 'made a link for it',
}
/** Of one user. The search reads the newest 20,000 links of the audit. */
const EVENTS_READ = 1000

/**
 * Says what administrators for a trial did to the account of another person. They may know its password, and have said that its address is
 * verified. undefined: the audit has nothing (threats.md CON-37).
 */
export async function findTrialTraces(context: Needs, userId: UserId): Promise<string | undefined> {
  const { rows } = await listAudit(context, { userId, before: undefined, limit: EVENTS_READ })
  const traces = rows.toReversed().flatMap(({ actor, event }) => {
    const [maker, what] = [parseUserId(actor ?? ''), TRACES[event]]
    return maker === undefined || maker === userId || what === undefined ? [] : [{ maker, what }]
  })
  const named = [...Map.groupBy(traces, ({ maker }) => maker)].map(async ([maker, done]) => {
    if (!(await isForTrial(context, maker))) return []
    const { email } = (await context.store.findUser(maker)) ?? {}
    return [
      `${email ?? maker}, whose role was for a trial, ${[...new Set(done.map(({ what }) => what))].join(' and ')}`,
    ]
  })
  const sentences = (await Promise.all(named)).flat()
  return sentences.length === 0 ? undefined : sentences.join('; ')
}

/** Whether the role of a person is for a trial, or the last one was. */
async function isForTrial(context: Needs, id: UserId): Promise<boolean> {
  const role = await context.store.findRole(id)
  if (role !== undefined) return role.isLoopbackOnly
  const { rows } = await listAudit(context, { userId: id, event: 'role.set', before: undefined, limit: 1 })
  return rows[0]?.details?.['loopback_only'] === true
}
