import { addOrgAddMember } from './org-add-member.ts'
import { addOrgCreate } from './org-create.ts'
import { addOrgDelete } from './org-delete.ts'
import { addOrgDisable } from './org-disable.ts'
import { addOrgDisableInstallation } from './org-disable-installation.ts'
import { addOrgDisableMember } from './org-disable-member.ts'
import { addOrgEnable } from './org-enable.ts'
import { addOrgEnableInstallation } from './org-enable-installation.ts'
import { addOrgEnableMember } from './org-enable-member.ts'
import { addOrgExpire } from './org-expire.ts'
import { addOrgInstall } from './org-install.ts'
import { addOrgInstallations } from './org-installations.ts'
import { addOrgList } from './org-list.ts'
import { addOrgMembers } from './org-members.ts'
import { addOrgRemoveMember } from './org-remove-member.ts'
import { addOrgRename } from './org-rename.ts'
import { addOrgShow } from './org-show.ts'
import { addOrgUninstall } from './org-uninstall.ts'
import type { AddVerb } from './verb.ts'

/** What stands below `grantor org`. */
export const ORG_VERBS: readonly AddVerb[] = [
  addOrgCreate,
  addOrgList,
  addOrgShow,
  addOrgRename,
  addOrgDisable,
  addOrgEnable,
  addOrgExpire,
  addOrgDelete,
  addOrgAddMember,
  addOrgMembers,
  addOrgDisableMember,
  addOrgEnableMember,
  addOrgRemoveMember,
  addOrgInstall,
  addOrgInstallations,
  addOrgDisableInstallation,
  addOrgEnableInstallation,
  addOrgUninstall,
]
