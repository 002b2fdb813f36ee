import { readOptions, whole } from '../../tools/options.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { describeSignIns, describeThefts, liveAll, liveFleets, stealAll } from './campaign.ts'

/** Agents in several processes of one sign-in, and thieves, against the rule of the SQLite store. See docs/proofs.md. */

const options = readOptions({
  users: whole('people of each policy', 1000, [1, 1e6]),
  days: whole('days of each of them', 60, [8, 80]),
  thefts: whole('thefts elsewhere; behind the same address a tenth', 10_000, [1, 1e7]),
  lost: whole('answers in 10,000 that are lost', 40, [0, 10_000]),
})
beginSession()
const findings = openFindings()
const lines = [
  ...(['network', 'strict', 'network, with a retry of 300 s'] as const).map((policy) => {
    const line = `${policy}: ${describeSignIns(liveAll(policy, options), options)}`
    findings.progress(line)
    return line
  }),
  ...([false, true] as const).map((isNear) => {
    const thefts = stealAll(isNear, { ...options, thefts: isNear ? Math.ceil(options.thefts / 10) : options.thefts })
    if (!isNear && thefts.some(({ winsAfterUse }) => winsAfterUse > 0))
      findings.report('a thief elsewhere got tokens after the person had used the family')
    const line = `thefts ${isNear ? 'behind the same address' : 'elsewhere'}: ${describeThefts(thefts)}`
    findings.progress(line)
    return line
  }),
  ...(['shared', 'memory', 'private'] as const).map((store) => {
    const { whole: withoutLoss, lossy } = liveFleets(store, options.lost)
    if (withoutLoss > 0 && store !== 'private')
      findings.report(`a fleet with ${store} tokens signed in again without a lost answer`)
    return `16 processes, two egress addresses, 100 days, ${store} tokens: ${withoutLoss} sign-ins without lost answers, ${lossy} with them`
  }),
]
printReport(`${options.users} people for ${options.days} days of each policy`, lines, findings)
