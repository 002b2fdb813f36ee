import { ADMIN_TASKS } from './admin.ts'
import { API_TASKS } from './api/tasks.ts'
import { APPLY_TASKS } from './apply.ts'
import { AUDIT_TASKS } from './audit/tasks.ts'
import { CLIENT_TASKS } from './client/tasks.ts'
import { CLOCK_TASKS } from './clock.ts'
import { DELEGATE_TASKS } from './delegate.ts'
import { DOMAIN_TASKS } from './domain.ts'
import { FIGURE_TASKS } from './figures.ts'
import { GRANT_TASKS } from './grant.ts'
import { ACCESS_TASKS } from './access/tasks.ts'
import { ACCESS_RULE_TASKS } from './access-rule/tasks.ts'
import { GROUP_TASKS } from './group/tasks.ts'
import { INITIAL_TOKEN_TASKS } from './client/initial-token.ts'
import { INVITATION_TASKS } from './organization/invitation.ts'
import { INSTALLATION_TASKS } from './organization/installation.ts'
import { INTERACTION_TASKS } from './interaction/tasks.ts'
import { KEY_TASKS } from './key/tasks.ts'
import { MAIL_TASKS } from './mail.ts'
import { MEMBER_TASKS } from './organization/member.ts'
import { ORGANIZATION_TASKS } from './organization/organization.ts'
import { PROVIDER_TASKS } from './provider/tasks.ts'
import { ROLE_TASKS } from './user/role.ts'
import { SERVER_TASKS } from './server.ts'
import { SESSION_TASKS } from './session.ts'
import type { Task } from './task.ts'
import { TOKEN_TASKS } from './token.ts'
import { USER_TASKS } from './user/tasks.ts'

/** The task table, from which the HTTP API, its OpenAPI description and the command line are derived. */
export const TASKS: readonly Task[] = [
  ...SERVER_TASKS,
  ...FIGURE_TASKS,
  ...CLIENT_TASKS,
  ...INITIAL_TOKEN_TASKS,
  ...DOMAIN_TASKS,
  ...USER_TASKS,
  ...PROVIDER_TASKS,
  ...ORGANIZATION_TASKS,
  ...MEMBER_TASKS,
  ...INVITATION_TASKS,
  ...INSTALLATION_TASKS,
  ...GROUP_TASKS,
  ...ACCESS_RULE_TASKS,
  ...ACCESS_TASKS,
  ...API_TASKS,
  ...GRANT_TASKS,
  ...SESSION_TASKS,
  ...KEY_TASKS,
  ...CLOCK_TASKS,
  ...MAIL_TASKS,
  ...TOKEN_TASKS,
  ...ADMIN_TASKS,
  ...ROLE_TASKS,
  ...DELEGATE_TASKS,
  ...INTERACTION_TASKS,
  ...APPLY_TASKS,
  ...AUDIT_TASKS,
]

const BY_NAME: ReadonlyMap<string, Task> = new Map(TASKS.map((task) => [task.name, task]))

/** Returns the task of a name, for the command line. */
export function findTask(name: string): Task | undefined {
  return BY_NAME.get(name)
}

/** @throws Error for a name that no task has, which is a bug of the caller */
export function requireTask(name: string): Task {
  const task = findTask(name)
  if (task === undefined) throw new Error(`There is no task ${name}.`)
  return task
}
