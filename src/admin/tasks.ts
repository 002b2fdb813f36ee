import { ADMIN_TASKS } from './admin-tasks.ts'
import { API_TASKS } from './api-tasks.ts'
import { AUDIT_TASKS } from './audit-tasks.ts'
import { CLIENT_TASKS } from './client-tasks.ts'
import { CLOCK_TASKS } from './clock-tasks.ts'
import { GRANT_TASKS } from './grant-tasks.ts'
import { INSTALLATION_TASKS } from './installation-tasks.ts'
import { KEY_TASKS } from './key-tasks.ts'
import { MEMBER_TASKS } from './member-tasks.ts'
import { ORGANIZATION_TASKS } from './organization-tasks.ts'
import type { Task } from './task.ts'
import { TOKEN_TASKS } from './token-tasks.ts'
import { USER_TASKS } from './user-tasks.ts'

/** The task table, from which the HTTP API, its OpenAPI description and the command line are derived. */
export const TASKS: readonly Task[] = [
  ...CLIENT_TASKS,
  ...USER_TASKS,
  ...ORGANIZATION_TASKS,
  ...MEMBER_TASKS,
  ...INSTALLATION_TASKS,
  ...API_TASKS,
  ...GRANT_TASKS,
  ...KEY_TASKS,
  ...CLOCK_TASKS,
  ...TOKEN_TASKS,
  ...ADMIN_TASKS,
  ...AUDIT_TASKS,
]

/** Returns the task of a name, for the command line. */
export function findTask(name: string): Task | undefined {
  return TASKS.find((task) => task.name === name)
}
