import type { AdminServer } from '../../support/admin-server.ts'
import { anAccessRule } from '../../support/store/access-rules.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** Access rules for RULES. All are off, because other tests use the server. */

const NO_TERMS = Object.fromEntries(
  ['clients', 'apis', 'scopes', 'groups', 'organizations', 'users'].flatMap((name) => [
    [name, []],
    [`except_${name}`, []],
  ]),
) as Members
const { organizations: _, except_organizations: __, ...OWN_TERMS } = NO_TERMS
const OFF = { sign_in: true, state: 'off' }

/** The example of the OpenAPI document names what may not be there. */
export const A_CHANGE = (): Members => ({ ...NO_TERMS, ...OFF, sentence: 'Ask Finance' })
export const AN_OWN_CHANGE = (): Members => ({ ...OWN_TERMS, ...OFF, sentence: 'Ask Finance' })
export const A_RULE = (): Members => ({ rule_id: anAccessRule().id, ...A_CHANGE() })
export const AN_OWN_NEW_RULE = (): Members => ({ rule_id: anAccessRule().id, ...OWN_TERMS, ...OFF })

export async function AN_ACCESS_RULE({ server }: AdminServer): Promise<Members> {
  const rule = A_RULE()
  await perform(server.context, 'access-rule.create', rule)
  return { rule_id: rule['rule_id'] }
}

export async function AN_OWN_RULE({ makeOrganization, server }: AdminServer): Promise<Members> {
  const rule: Members = { organization_id: await makeOrganization(), ...AN_OWN_NEW_RULE() }
  await perform(server.context, 'organization-access-rule.create', rule)
  return { organization_id: rule['organization_id'], rule_id: rule['rule_id'] }
}
