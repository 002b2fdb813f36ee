import { forgetDomain, setDomainRules } from '../../src/admin/domain.ts'
import type { DomainVerdict } from '../../src/protocol/client/domain-rule.ts'
import { knowApis } from './apis.ts'
import type { TestServer } from './server.ts'

/** Sets a rule for a domain, and advances the clock until the node has read it. */
export async function evaluateDomain(server: TestServer, pattern: string, verdict: DomainVerdict): Promise<void> {
  await setDomainRules(server.context, [pattern], { verdict, note: undefined })
  knowApis(server)
}

/** Removes the rule, and advances the clock until the node has read that. */
export async function forgetRule(server: TestServer, pattern: string): Promise<void> {
  await forgetDomain(server.context, pattern)
  knowApis(server)
}
