import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { OrganizationRecord } from '../../../ports/records/organization.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import { isChosenId, type OrganizationId } from '../../../protocol/ids.ts'
import { idOf, type NounOperations, when } from '../../noun.ts'
import { organizationKey, rulesOfOrganization } from './access-rules.ts'
import { endGroupsOf } from './groups.ts'
import { endingLater } from './memberships.ts'
import { setting, CREDENTIAL_OF_ORGANIZATION } from '../server/settings.ts'
import { endLaterOfOrganization } from '../token/not-before.ts'
import { leaveOrganization, PROVIDER_KEYS } from '../user/providers.ts'
import { change, ENABLE, idKey, listPage, lookFor, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text, disabling } from '../../table.ts'

export const ORGANIZATIONS = table<OrganizationRecord>({
  id: text('organization_id'),
  name: text('name'),
  accessRules: rulesOfOrganization,
  createdAt: bigint('created_at'),
  ...disabling,
})

const INSERT = shared(
  `insert into organizations (${ORGANIZATIONS.names}) values (${ORGANIZATIONS.parameters})
   on conflict (organization_id) do nothing returning organization_id`,
)
const RENAME = shared(
  `update organizations set name = :name
   where organization_id = :id and name = coalesce(cast(:previous as text), name) returning organization_id`,
)
const EXISTS = shared('select organization_id from organizations where organization_id = :id')
const DELETE = shared('delete from organizations where organization_id = :id returning organization_id')
const DELETE_BELONGINGS = ['memberships', 'installations', 'roles'].map((name) =>
  shared(`delete from ${name} where ${lookFor(name, 'organization_id = :id')}`),
)
const DELETE_CREDENTIALS = shared('delete from admin_credentials where organization_id = :id')

/** An organization with a chosen id that begins, and each one that ends, changes the providers of its id. */
const ofOrganizationAndProviders = ({ id }: { readonly id: OrganizationId }): readonly string[] => [
  id,
  ...PROVIDER_KEYS,
]

/** Moves the not-before time also where a clock that was ahead has set it: consents end because it moves. */
const MOVE = 'not_before = greatest(not_before + 1, :now)'

const operations = {
  createOrganization: {
    // Those with new ids are many in one wave.
    keys: (organization) =>
      isChosenId(organization.id) ? ofOrganizationAndProviders(organization) : idKey(organization),
    // A chosen id may be that of an organization that was deleted, of which something may be left.
    cache: ({ id }) => (isChosenId(id) ? undefined : organizationKey(id)),
    event: when('created', aboutOrganization('organization.created')),
    *run(organization) {
      const { id, notBefore } = organization
      if ((yield* rows(INSERT, ORGANIZATIONS.values({ ...organization, accessRules: [] }))).length === 0)
        return 'id-taken'
      if (!isChosenId(id)) return 'created'
      // A member, for example, may have been added while an earlier organization with the id was deleted.
      yield* endBelongings(id)
      // The clock of the node that deleted it may have been ahead.
      yield* endLaterOfOrganization({ id }, notBefore)
      return 'created'
    },
  },
  renameOrganization: {
    keys: idKey,
    cache: keyOfInput,
    event: when('changed', aboutOrganization('organization.renamed')),
    *run({ id, name, previous }) {
      if ((yield* rows(RENAME, { id, name, previous })).length === 1) return 'changed'
      return previous === undefined ? 'unknown' : 'conflict'
    },
  },
  disableOrganization: {
    keys: idKey,
    cache: keyOfInput,
    event: when('changed', aboutOrganization('organization.disabled')),
    run: endingLater(
      endLaterOfOrganization,
      change(
        `update organizations set disabled_at = coalesce(disabled_at, :now), ${MOVE} where organization_id = :id returning organization_id`,
      ),
    ),
  },
  enableOrganization: {
    keys: idKey,
    cache: keyOfInput,
    event: when('changed', aboutOrganization('organization.enabled')),
    run: change(`update organizations set ${ENABLE} where organization_id = :id returning organization_id`),
  },
  revokeOrganizationTokens: {
    keys: idKey,
    cache: keyOfInput,
    event: when('changed', aboutOrganization('organization.tokens-revoked')),
    run: endingLater(
      endLaterOfOrganization,
      change(
        `update organizations set ${MOVE} where organization_id = :id
         returning organization_id`,
      ),
    ),
  },
  deleteOrganization: {
    keys: ofOrganizationAndProviders,
    cache: 'cleared',
    event: when('deleted', aboutOrganization('organization.deleted')),
    *run({ id, now }) {
      // Each machine with a copy waits for the credentials that it does not show yet. First, as where these are created.
      if ((yield* rows(EXISTS, { id })).length === 1) yield* setting(CREDENTIAL_OF_ORGANIZATION, id)
      const deleted = yield* rows(DELETE, { id })
      yield* endBelongings(id)
      yield* rows(DELETE_CREDENTIALS, { id })
      if (isChosenId(id)) yield* endLaterOfOrganization({ id }, now)
      return deleted.length === 1 ? 'deleted' : 'unknown'
    },
  },
} satisfies NounOperations

const reads = {
  listOrganizations: listPage(
    ORGANIZATIONS,
    'select * from organizations where organization_id < :before order by organization_id desc limit :limit',
  ),
}

export const organizations = { operations, reads }

/**
 * What counts for the organization with this id, whichever it is. Its grants and credentials are of the one that was there at their
 * time.
 */
function* endBelongings(id: OrganizationId): Steps<void> {
  for (const statement of DELETE_BELONGINGS) yield* rows(statement, { id })
  yield* endGroupsOf(id)
  yield* leaveOrganization(id)
}

function keyOfInput(input: OrganizationId | { readonly id: OrganizationId }): string {
  return organizationKey(idOf(input))
}

function aboutOrganization(event: AuditEventName) {
  return (input: OrganizationId | { readonly id: OrganizationId }): AuditEvent => ({
    event,
    organizationId: idOf(input),
  })
}
