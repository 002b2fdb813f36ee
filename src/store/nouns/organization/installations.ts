import type { InstallationKey } from '../../../ports/operations/organization.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { InstallationRecord } from '../../../ports/records/organization.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import { type NounOperations, when } from '../../noun.ts'
import { change, DISABLE, ENABLE, listPage, newestOf, outcomeOf, rows, shared } from '../../shared/statement.ts'
import { bigint, flag, table, text, disabling } from '../../table.ts'

export const INSTALLATIONS = table<InstallationRecord>({
  clientId: text('client_id'),
  organizationId: text('organization_id'),
  scope: text('scope'),
  actsForMembers: flag('acts_for_members'),
  createdAt: bigint('created_at'),
  ...disabling,
})

const INSERT_INSTALLATION = shared(
  `insert into installations (${INSTALLATIONS.names}) values (${INSTALLATIONS.parameters})
   on conflict (client_id, organization_id) do nothing returning client_id`,
)
const REPLACE_INSTALLATION = shared(
  `update installations set scope = :scope, acts_for_members = :acts_for_members, disabled_at = null,
     not_before = greatest(not_before, :not_before)
   where client_id = :client_id and organization_id = :organization_id returning client_id`,
)

const ofInstallation = {
  keys: (key: InstallationKey) => [installationKey(key), key.clientId, key.organizationId],
  isShared: true,
} as const

/** The clients that are installed for organizations. */
const operations = {
  install: {
    ...ofInstallation,
    cache: installationKey,
    event: (installation, outcome) => ({
      ...aboutInstallation(outcome === 'installed' ? 'installation.added' : 'installation.replaced')(installation),
      details: { scope: installation.scope, acts_for_members: installation.actsForMembers },
    }),
    *run(installation) {
      const values = INSTALLATIONS.values(installation)
      // Repeats only if the installation was removed between the two statements, and at most for a statement's time limit.
      for (;;) {
        if ((yield* rows(INSERT_INSTALLATION, values)).length === 1) return 'installed'
        if ((yield* rows(REPLACE_INSTALLATION, values)).length === 1) return 'replaced'
      }
    },
  },
  disableInstallation: {
    ...ofInstallation,
    cache: installationKey,
    event: when('changed', aboutInstallation('installation.disabled')),
    run: change(
      `update installations set ${DISABLE} where client_id = :clientId and organization_id = :organizationId
       returning client_id`,
    ),
  },
  enableInstallation: {
    ...ofInstallation,
    cache: installationKey,
    event: when('changed', aboutInstallation('installation.enabled')),
    run: change(
      `update installations set ${ENABLE} where client_id = :clientId and organization_id = :organizationId
       returning client_id`,
    ),
  },
  uninstall: {
    ...ofInstallation,
    cache: installationKey,
    event: when('removed', aboutInstallation('installation.removed')),
    run: outcomeOf(
      'delete from installations where client_id = :clientId and organization_id = :organizationId returning client_id',
      'removed',
      'unknown',
    ),
  },
} satisfies NounOperations

const reads = {
  listInstallations: listPage(
    INSTALLATIONS,
    `select * from installations where ${newestOf('organization_id', ':organizationId', 'client_id')} limit :limit`,
  ),
  listInstallationsOfClient: listPage(
    INSTALLATIONS,
    `select * from installations where ${newestOf('client_id', ':clientId', 'organization_id')} limit :limit`,
  ),
}

export const installations = { operations, reads }

/** The cache key of an installation. */
export function installationKey({ clientId, organizationId }: InstallationKey): string {
  return `${clientId} ${organizationId}`
}

function aboutInstallation(event: AuditEventName) {
  return ({ clientId, organizationId }: InstallationKey): AuditEvent => ({ event, clientId, organizationId })
}
