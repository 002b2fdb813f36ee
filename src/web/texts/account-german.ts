import type { AccountTexts } from './account-texts.ts'
import { html } from '../markup.ts'

export const accountGerman: AccountTexts = {
  pages: {
    overview: 'Ihr Konto',
    apps: 'Verbundene Apps',
    sessions: 'Wo Sie angemeldet sind',
    security: 'Anmeldung und Sicherheit',
    data: 'Ihre Daten',
    'change-email': 'E-Mail-Adresse ändern',
    'confirm-email': 'Adresse bestätigen',
    'remove-app': 'Eine App entfernen',
    password: 'Ihr Passwort',
    'remove-password': 'Passwort entfernen',
    'add-provider': 'Ein Konto hinzufügen',
    'remove-provider': 'Ein Konto entfernen',
    'set-up-app': 'Authenticator-App einrichten',
    'recovery-codes': 'Wiederherstellungscodes',
    'add-passkey': 'Passkey hinzufügen',
    'remove-passkey': 'Passkey entfernen',
    'remove-two-step': 'Anmeldung in zwei Schritten ausschalten',
  },
  menu: { overview: 'Konto', apps: 'Apps', sessions: 'Browser', security: 'Sicherheit', data: 'Daten' },
  navigation: 'Konto',
  notices: {
    'name-changed': 'Ihr Name wurde geändert.',
    'email-changed': 'Ihre E-Mail-Adresse wurde geändert. Die bisherige bekommt eine Nachricht.',
    'email-confirmed': 'Ihre E-Mail-Adresse ist bestätigt.',
    'app-removed': 'Die App wurde entfernt. Sie hat keinen Zugriff mehr.',
    'session-ended': 'Dieser Browser ist abgemeldet.',
    'sessions-ended': 'Alle anderen Browser sind abgemeldet.',
    'password-set': 'Ihr Passwort ist gesetzt. Alle anderen Browser sind abgemeldet.',
    'password-changed': 'Ihr Passwort wurde geändert. Alle anderen Browser sind abgemeldet.',
    'password-removed': 'Ihr Passwort ist entfernt. Alle anderen Browser sind abgemeldet.',
    'passkey-added': 'Ihr Passkey ist hinzugefügt. Ab jetzt können Sie sich damit anmelden.',
    'passkey-removed': 'Der Passkey ist entfernt. Alle anderen Browser sind abgemeldet.',
    'method-added': 'Sie können sich ab jetzt auch so anmelden.',
    'method-removed': 'Sie können sich so nicht mehr anmelden.',
    'two-step-removed': 'Die Anmeldung in zwei Schritten ist aus. Ihre Wiederherstellungscodes gelten nicht mehr.',
  },
  save: 'Speichern',
  cancel: 'Abbrechen',
  remove: 'Entfernen',
  removeHeading: (name) => html`${name} entfernen?`,

  name: 'Name',
  nameHint: 'Apps und die Mitglieder Ihrer Organisationen sehen ihn. Das Feld darf leer sein.',
  nameUnusable: 'Ein Name hat höchstens 200 Zeichen, die alle sichtbar sind.',
  nameOfApplication: 'Er kommt aus der Anwendung, in der Sie sich anmelden. Ändern Sie ihn dort.',
  noName: 'keiner',
  verified: 'bestätigt',
  unverified: 'nicht bestätigt',
  noEmail: 'keine',
  addEmail: 'E-Mail-Adresse hinzufügen',
  changeEmail: 'E-Mail-Adresse ändern',
  confirmEmail: 'Adresse bestätigen',
  changeEmailLead: 'An die Adresse geht ein Code. Wenn Sie ihn hier eingeben, gehört sie zu Ihrem Konto.',
  sendCode: 'Senden',
  emailUnchanged: 'Das ist schon Ihre Adresse.',
  emailOfProvider: (provider) =>
    html`Mit so einer Adresse meldet man sich nur bei ${provider} an. Fragen Sie den Betreiber.`,
  enterEmailCode: (email) => html`Geben Sie den Code ein, der an ${email} geschickt wurde.`,
  emailCode: 'Code',
  emailCodeHint: 'Er hat 8 Ziffern und gilt 15 Minuten. Sehen Sie auch im Spam-Ordner nach.',
  emailCodeProblems: {
    'email-code-wrong': 'Dieser Code stimmt nicht. Prüfen Sie ihn und versuchen Sie es noch einmal.',
    'email-code-void': 'Dieser Code gilt nicht mehr. Lassen Sie sich einen neuen schicken.',
    'email-taken': 'Ein anderes Konto hat diese Adresse. Melden Sie sich dort an, oder wählen Sie eine andere.',
  },
  organizations: 'Organisationen',

  noApps: 'Sie haben keiner App erlaubt, Ihr Konto zu verwenden.',
  appsHint: 'Diese Apps können Ihr Konto verwenden. Entfernen Sie die Apps, die Sie nicht mehr benutzen.',
  removeAppConsequence: 'Sie verliert sofort den Zugriff. Wenn Sie sie wieder benutzen, muss sie Sie vorher fragen.',
  removeImpliedConsequence:
    'Sie verliert sofort den Zugriff. Wenn Sie sie wieder benutzen, bekommt sie ihn, ohne Sie zu fragen: Das hat der Betreiber dieser Seite so entschieden.',
  removeAssertedConsequence: (provider) =>
    html`Sie verliert sofort den Zugriff. ${provider} kann ihn ihr wieder geben, ohne Sie zu fragen.`,
  assertedBy: (provider) => html`Zugriff durch Ihre Organisation, über ${provider}`,
  on: (apis) => html`bei ${apis}`,
  forOrganization: (organization) => html`für ${organization}`,
  used: (allowed, used, end) => `Erlaubt ${allowed} · benutzt ${used} · endet am ${end}`,
  paused:
    'Angehalten. Eine Kopie des Zugriffs dieser App wurde benutzt, die aus einem anderen Netz kam oder sehr alt war. Melden Sie sich in der App neu an, oder entfernen Sie die App.',
  returns: (allowed) => `Erlaubt ${allowed} · hat jetzt keinen Zugriff und bekommt ihn wieder, ohne Sie zu fragen`,
  deviceWaits: (allowed) => `Erlaubt ${allowed} · ein Gerät holt gerade seinen Zugriff ab`,
  moreApps: 'Es gibt weitere. Sie stehen hier, wenn Sie einige von diesen entfernt haben.',

  sessionsHint:
    'Melden Sie Browser ab, die Sie nicht kennen oder nicht mehr benutzen, und ändern Sie danach Ihr Passwort.',
  unknownBrowser: 'Unbekannter Browser',
  agent: (browser, system) => `${browser} auf ${system}`,
  thisBrowser: 'Dieser Browser',
  seen: (started, seen) => `Angemeldet ${started} · gesehen ${seen}`,
  signedInBy: {
    pwd: 'mit Passwort',
    fed: 'in der Anwendung des Betreibers',
    otp: 'mit einer Authenticator-App',
    pop: 'mit einem Passkey',
    mfa: 'mit einem zweiten Schritt',
    recovery: 'mit einem Wiederherstellungscode',
  },
  signedInAt: (provider) => html`bei ${provider}`,
  from: (network) => `aus ${network}`,
  fromThisComputer: 'von diesem Computer',
  endOthers: 'Alle anderen abmelden',

  passkeys: 'Passkeys',
  passkey: 'Passkey',
  noPasskey:
    'Mit einem Passkey melden Sie sich ohne Passwort an: mit Fingerabdruck, Gesicht oder der PIN Ihres Geräts.',
  addPasskey: 'Passkey hinzufügen',
  addPasskeyHint: 'Ihr Gerät bittet Sie um eine Bestätigung. Der Passkey bleibt dort oder in Ihrem Passwortmanager.',
  passkeyMissing: 'Passkeys brauchen JavaScript und einen Browser, der Passkeys kennt. Eines davon fehlt hier.',
  passkeySynced: 'synchronisiert',
  passkeyOnDevice: 'auf diesem Gerät',
  passkeyUnused: (added) => `Hinzugefügt ${added} · nie benutzt`,
  passkeyProblems: {
    'passkey-invalid':
      'Der Passkey hat nicht funktioniert. Versuchen Sie es noch einmal, oder nehmen Sie ein anderes Gerät. Ein Sicherheitsschlüssel braucht eine PIN.',
    'passkey-taken': 'Dieser Passkey ist schon hinzugefügt.',
    'passkeys-full': 'Sie haben 20 Passkeys. Entfernen Sie einen, bevor Sie einen weiteren hinzufügen.',
  },
  removePasskeyConsequence:
    'Sie können sich mit diesem Passkey dann nicht mehr anmelden. In allen anderen Browsern werden Sie abgemeldet. Ihre Apps bleiben verbunden, und die, denen Sie Zugriff erlaubt haben, fragen Sie bei der nächsten Anmeldung dort neu.',
  providers: 'Konten bei anderen Anbietern',
  noIdentity: 'Sie können sich auch mit einem Konto anmelden, das Sie woanders haben.',
  addProvider: 'Ein Konto hinzufügen',
  addHint: 'Sie melden sich beim Anbieter an und kommen dann hierher zurück.',
  identityOf: (email) => html`Sie können sich mit Ihrem Konto ${email} anmelden.`,
  identity: 'Sie können sich mit Ihrem Konto dort anmelden.',
  identityUnusable: 'Damit können Sie sich hier gerade nicht anmelden.',
  identityUsed: (linked, used) => `Hinzugefügt ${linked} · benutzt ${used}`,
  removeProviderConsequence:
    'Danach können Sie sich mit diesem Konto nicht mehr anmelden. Andere Browser, in denen Sie sich damit angemeldet haben, werden abgemeldet, und Apps, die darüber Zugriff haben, verlieren ihn. Andere Apps, denen Sie Zugriff erlaubt haben, fragen Sie bei der nächsten Anmeldung dort neu.',
  stays: {
    last: 'Bleibt, weil Sie sich sonst nicht anmelden könnten.',
    required: 'Bleibt, weil der Betreiber es für Ihre E-Mail-Adresse verlangt.',
    factor: 'Bleibt, weil Ihr Konto einen zweiten Schritt braucht. Fügen Sie zuerst einen anderen hinzu.',
  },
  hasPassword: 'Sie haben ein Passwort.',
  hasNoPassword: 'Sie haben kein Passwort.',
  noMethods: 'An Ihrer Anmeldung können Sie hier nichts ändern. Fragen Sie den Betreiber.',
  newPassword: 'Neues Passwort',
  newPasswordHint: (shortest) => `Mindestens ${shortest} Zeichen. Vier Wörter kann man sich gut merken.`,
  repeatPassword: 'Neues Passwort wiederholen',
  changePassword: 'Passwort ändern',
  removePassword: 'Passwort entfernen',
  removePasswordConsequence:
    'Sie können sich dann nicht mehr mit einem Passwort anmelden. In allen anderen Browsern werden Sie abgemeldet. Ihre Apps bleiben verbunden, und die, denen Sie Zugriff erlaubt haben, fragen Sie bei der nächsten Anmeldung dort neu.',
  otherSessionsEnd:
    'Damit werden Sie in allen anderen Browsern abgemeldet. Ihre Apps bleiben verbunden, und die, denen Sie Zugriff erlaubt haben, fragen Sie bei der nächsten Anmeldung dort neu.',
  twoStep: 'Anmeldung in zwei Schritten',
  twoStepOff: 'Sie ist aus. Mit ihr geben Sie beim Anmelden auch einen Code aus einer Authenticator-App ein.',
  twoStepVoid:
    'Ihre App funktioniert hier nicht mehr. Richten Sie eine andere ein und löschen Sie den Eintrag in Ihrer App.',
  twoStepOn: (since) => `Sie ist an. Sie haben Ihre Authenticator-App ${since} eingerichtet.`,
  recoveryLeft: (count) =>
    count === 1 ? 'Sie haben noch 1 Wiederherstellungscode.' : `Sie haben noch ${count} Wiederherstellungscodes.`,
  setUpTwoStep: 'Einrichten',
  replaceApp: 'Eine andere App einrichten',
  appReplaced:
    'Die App, die Sie jetzt haben, und ihre Wiederherstellungscodes gelten dann nicht mehr. In allen anderen Browsern werden Sie abgemeldet. Ihre Apps bleiben verbunden, und die, denen Sie Zugriff erlaubt haben, fragen Sie bei der nächsten Anmeldung dort neu.',
  newRecoveryCodes: 'Neue Wiederherstellungscodes',
  newCodesConsequence: 'Sie bekommen zehn neue Codes. Die, die Sie jetzt haben, gelten dann nicht mehr.',
  codesSaved: 'Ich habe sie gespeichert',
  switchOffTwoStep: 'Ausschalten',
  switchOffConsequence:
    'Dann reicht Ihr Passwort oder Ihr Konto bei einem Anbieter, um sich anzumelden. Ihre Wiederherstellungscodes gelten dann nicht mehr.',
  passwordProblems: {
    'password-too-short': (shortest) =>
      `Ein Passwort hat mindestens ${shortest} Zeichen. Vier Wörter kann man sich gut merken.`,
    'password-too-long': () => 'So lange Passwörter nehmen wir nicht an. Vier Wörter kann man sich gut merken.',
    'password-common': () => 'Dieses Passwort ist leicht zu erraten. Vier Wörter kann man sich gut merken.',
    'passwords-differ': () => 'Die beiden Passwörter sind verschieden.',
  },
  confirmBy: {
    passkey: (isReplaceable) =>
      `Ihr Konto hat einen Passkey. Melden Sie sich mit ihm an, um Anmeldearten hinzuzufügen oder zu entfernen. Wenn Sie ihn nicht mehr haben, ${isReplaceable ? 'wählen Sie dort „Passwort vergessen?“, oder fragen' : 'fragen'} Sie den Betreiber.`,
    identity: (isReplaceable) =>
      `Ihr Konto ist durch die Anmeldung in zwei Schritten bei einem Anbieter geschützt. Melden Sie sich dort an, um Anmeldearten hinzuzufügen oder zu entfernen. Wenn Sie das nicht mehr können, ${isReplaceable ? 'wählen Sie „Passwort vergessen?“, oder fragen' : 'fragen'} Sie den Betreiber.`,
  },
  confirmFirst:
    'Ihre letzte Anmeldung ist vielleicht länger her. Bestätigen Sie, dass Sie es sind, bevor Sie weitermachen.',
  confirm: 'Bestätigen, dass Sie es sind',

  kept: 'Was über Sie gespeichert ist',
  keptItems: [
    'Ihr Konto: E-Mail, Name, Profil, und wann Sie sich zuerst angemeldet haben',
    'Ihre Konten bei anderen Anbietern, mit denen Sie sich anmelden können',
    'die Organisationen, zu denen Sie gehören',
    'die Apps, denen Sie etwas erlaubt haben, und was',
    'die Browser, in denen Sie angemeldet sind',
    'die neuesten Ereignisse zu Ihrem Konto, zum Beispiel Anmeldungen',
  ],
  keptLater:
    'Wird Ihr Konto gelöscht, bleiben die Ereignisse noch einige Zeit gespeichert, ohne Ihre E-Mail und Ihren Namen. Wie lange, weiß der Betreiber.',
  download: 'Als Datei herunterladen',

  linkMethodsHeading: 'Welche davon gehören Ihnen?',
  linkMethods: (account) =>
    html`Damit kann man sich bei ${account} anmelden. Wählen Sie die, die Sie kennen. Die anderen werden im nächsten
    Schritt entfernt.`,
  application: 'Die Anwendung des Betreibers',
  goOn: 'Weiter',
  invitationHeading: (brand) => html`Willkommen bei ${brand}`,
  invitationTitle: 'Willkommen',
  invitation: (brand, account) =>
    html`${brand} hat ein Konto für ${account} angelegt. Wählen Sie, wie Sie sich anmelden wollen.`,
  resetHeading: 'Neues Passwort wählen',
  resetWithoutPassword: 'Anmeldung wählen',
  linkWithoutPassword: (account) => html`Wählen Sie, wie sich ${account} anmeldet.`,
  linkAtProvider: (account, provider) => html`${account} meldet sich mit ${provider} an.`,
  linkFor: (account) => html`Wählen Sie ein Passwort für ${account}.`,
  resetConsequence:
    'Damit werden Sie überall abgemeldet, und jede App, der Sie Zugriff erlaubt haben, muss Sie neu fragen. Ein bisheriges Passwort gilt nicht mehr.',
  setPassword: 'Passwort setzen',
  linkUsedByPasskey: 'Ihr Passkey ist hinzugefügt',
  linkUsedHeading: 'Ihr Passwort ist gesetzt',
  linkUsed: 'Melden Sie sich jetzt damit an.',
  toConsole: 'Zur Konsole',
  toAccount: 'Zu Ihrem Konto',
}
