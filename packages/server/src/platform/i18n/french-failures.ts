import type { ErrorName } from '@millrace/contract/errors.ts'

/** What the error table says in English (docs/errors.md), in French. */
export const frenchFailures: Readonly<Record<ErrorName, string>> = {
  validation: 'La demande n’est pas valable',
  malformed: 'La demande est illisible',
  unauthenticated:
    'Un jeton d’accès valable est nécessaire : envoyez l’en-tête « Authorization: Bearer <ACCESS_TOKEN> »',
  forbidden: 'Votre rôle ne permet pas cela',
  notFound: 'Cet objet n’existe pas',
  unknownPath: 'Il n’y a rien à cette adresse',
  methodNotAllowed: 'Cette adresse ne répond pas à cette méthode',
  notAcceptable: 'Aucun des formats acceptés ne peut être fourni',
  requestTimeout: 'La demande n’est pas arrivée à temps',
  conflict: 'Cela contredit l’état actuel',
  payloadTooLarge: 'Le corps de la demande est trop volumineux',
  uriTooLong: 'L’adresse est trop longue',
  unsupportedMediaType: 'Le corps a un format ou un encodage qui n’est pas accepté ici',
  tooManyRequests: 'Trop de demandes à la fois ; réessayez dans un instant',
  headersTooLarge: 'Les en-têtes de la demande sont trop volumineux',
  internal: 'Une erreur s’est produite de notre côté',
  unavailable: 'Le service n’est pas disponible en ce moment ; réessayez dans un instant',
  timeout: 'La demande a pris plus de temps que permis et a été interrompue',
  tooComplex: 'La demande dépasse ce qui peut être calculé',
  savedMeanwhile: 'Cet objet a été enregistré entre-temps : relisez-le',
  datasourceNotFound: 'Aucune source de données n’a cet identifiant',
  invalidDatasourceId: 'L’identifiant d’une source de données a 24 caractères hexadécimaux',
  emptyEvents: 'Le corps est vide : envoyez un événement ou une liste d’événements',
  malformedEvents: 'Le corps ne peut pas être lu comme des événements',
  eventsTooLarge: 'Le corps contient plus qu’une demande ne peut porter',
  eventsNotDurable: 'Les événements ne peuvent pas être mis en sûreté en ce moment ; envoyez-les de nouveau',
  collectorOverloaded:
    'Il arrive plus d’événements qu’il n’en peut être écrits ; envoyez-les de nouveau plus tard',
  writeKeyMissing:
    'Envoyez l’identifiant de la source de données comme clé d’écriture : nom d’utilisateur de l’authentification Basic, ou writeKey dans le corps',
  datasourceWithoutSource: 'Cette source de données n’a pas de source à analyser',
  sourceNotReachable: 'La source de cette source de données est inaccessible',
  sampleFailed: 'L’échantillon n’a pas pu être obtenu',
  notAWorkerDatasource:
    'Seule une source de données de contenu a cela ; les événements d’une source de suivi arrivent par le collecteur',
  datasourceWithoutContent:
    'Cette source de données n’a pas encore de contenu : envoyez un fichier à son contenu',
  datasourceWithoutFields:
    'Aucun champ de cette source de données n’est retenu : analysez-la et choisissez les champs à garder',
  invalidFields: 'Les champs ne peuvent pas être gardés ainsi',
  datasourceImports: 'Un import de cette source de données est en cours : attendez qu’il se termine',
  datasourcePaused: 'Cette source de données est en pause : reprenez-la d’abord',
  datasourceInUse: 'Des workflows utilisent cette source de données',
  datasourceNotLive:
    'Cette source de données n’a pas encore de version en service : mettez son brouillon en service par POST /v2/datasources/{id}/versions/live',
  invalidDatasourceQuery: 'La requête ne peut pas recevoir de réponse',
  datasourceQueryTooSlow:
    'La requête a pris plus de 5 s : interrogez par la clé, ou avec moins de conditions',
  contentTooLarge: 'Le contenu est plus volumineux que ce qu’une source de données peut contenir',
  emptyContent: 'Le contenu est vide : envoyez le fichier lui-même comme corps',
  sourceIsAnAddress:
    'Cette source de données est lue à une adresse ; choisissez un fichier comme source pour envoyer un contenu',
  tooManyDatasources:
    'Votre entreprise a le plus grand nombre possible de sources de données : supprimez-en une d’abord',
  invalidDatasource: 'La source de données ne peut pas être gardée telle qu’elle est décrite',
  contentNotStored: 'Le contenu ne peut pas être enregistré en ce moment ; envoyez-le de nouveau plus tard',
  personsNotConfirmed: 'Plusieurs personnes sont concernées : envoyez `confirm` pour le confirmer',
  personTooLarge:
    'Plus d’appareils sont liés à cette personne qu’une requête ne peut en nommer : nommez moins d’identifiants',
  erasureNotFound: 'Aucun effacement ne correspond à cet identifiant',
  tooManyErasures: 'Il y a déjà 1 000 effacements en cours',
  notAnEventDatasource:
    'Seule une source d’événements les conserve pendant un certain nombre de jours ; les lignes restent jusqu’à ce qu’une importation les remplace',
  storageFull: 'Votre entreprise conserve autant d’octets qu’elle le peut',
  invalidTokenRequest: 'La demande de jeton n’est pas valable',
  unsupportedGrantType:
    'Ce grant_type n’est pas pris en charge : utilisez password, refresh_token ou authorization_code',
  unauthorizedClient: 'L’application demandée ne peut pas connecter de personnes ainsi',
  invalidGrant: 'Le jeton de renouvellement ou le code n’est pas valable, ou il a expiré',
  invalidClient: 'L’application demandée (client_id) n’est pas connue, ou elle est fermée',
  invalidCredentials: 'Le nom d’utilisateur ou le mot de passe est faux',
  tooManyAttempts: 'Trop de tentatives infructueuses ; réessayez plus tard',
  signInUnavailable: 'La connexion n’est pas possible en ce moment ; réessayez dans un instant',
  otpRequired: 'Un code à usage unique est nécessaire : envoyez-le dans x-otp-code',
  invalidRedirectUri: 'L’adresse de retour (redirect_uri) n’est pas enregistrée pour cette application',
  authenticatorInUse: 'Les codes à usage unique sont déjà activés : désactivez-les d’abord',
  authenticatorNotOffered: 'Les codes à usage unique ne sont pas activés : demandez d’abord un secret',
  wrongCode: 'Le code est faux : envoyez les six chiffres que l’application affiche maintenant',
  applicationNotFound: 'Aucune application de ce nom n’a votre accord ni de session avec vous',
  sessionNotFound: 'Vous n’avez pas de telle session',
  userNotFound: 'Votre entreprise n’a pas cet utilisateur',
  passwordNotUsed: 'Cet utilisateur se connecte par la connexion unique seulement',
  tooManyPasswordResets: 'La réinitialisation a été demandée trop souvent ; réessayez plus tard',
  lastAdministrator:
    'L’entreprise n’aurait plus d’administrateur : donnez d’abord à un autre utilisateur un rôle qui peut modifier les utilisateurs, les rôles et l’entreprise',
  userNotActive: 'Cet utilisateur n’est pas actif',
  userAboveOwn: 'Le rôle de cet utilisateur permet plus que le vôtre',
  emailTaken: 'Un utilisateur a déjà cette adresse ; choisissez-en une autre',
  invitationNotFound: 'Votre entreprise n’a pas cette invitation',
  unknownUser: 'Votre entreprise n’a pas cet utilisateur',
  invalidLink: 'Ce lien n’est plus valable : il a servi, un plus récent l’a remplacé, ou il est trop ancien',
  linkedAccountNotFound: 'Ce compte lié n’existe pas',
  linkedAccountAddress: 'Cette adresse ne peut pas être liée',
  linkedAccountTest: 'Le message d’essai n’a pas été accepté ; rien n’a été lié',
  tooManyLinkedAccounts: 'Vous avez le plus grand nombre possible de comptes liés : supprimez-en un d’abord',
  singleSignOnNotFound: 'Votre entreprise n’a pas configuré la connexion unique',
  unusableMetadata: 'Les métadonnées du fournisseur d’identité ne peuvent pas être utilisées',
  singleSignOnNotProven:
    'La connexion unique ne peut pas encore être exigée : vérifiez un domaine, puis connectez-vous une fois par le fournisseur d’identité tel qu’il est configuré',
  domainNotFound: 'Votre entreprise n’a pas ce domaine',
  domainTaken: 'Ce domaine appartient déjà à une entreprise',
  domainNotVerified: 'L’enregistrement TXT qui montre que le domaine est à vous n’a pas été trouvé',
  tooManyDomains: 'Votre entreprise a autant de domaines qu’elle le peut : retirez-en un d’abord',
  certificateNotFound: 'Votre entreprise n’a pas ce certificat',
  certificateInUse: 'C’est le seul certificat : faites-en un autre d’abord',
  tooManyCertificates: 'Il y a déjà deux certificats : retirez d’abord le plus ancien',
  unknownRole: 'Votre entreprise n’a pas ce rôle',
  roleAboveOwn: 'Vous ne pouvez pas donner un rôle qui permet plus que le vôtre',
  unknownTeam: 'Votre entreprise n’a pas cette équipe',
  notInTeam: 'Vous n’êtes pas membre de cette équipe',
  roleNotFound: 'Votre entreprise n’a pas ce rôle',
  roleNameTaken: 'Votre entreprise a déjà un rôle de ce nom',
  builtInRole: 'Un rôle fourni ne peut être ni modifié ni supprimé ; faites un rôle à vous',
  roleInUse: 'Ce rôle est utilisé ; donnez d’abord un autre rôle à ses utilisateurs',
  permissionAboveOwn: 'Vous ne pouvez ni donner ni retirer une permission que vous n’avez pas',
  tooManyScimTokens: 'Deux jetons sont déjà actifs : révoquez-en un d’abord',
  scimTokenNotFound: 'Le fournisseur d’identité n’a pas ce jeton',
  groupSyncOff:
    'Les groupes ne sont pas synchronisés : activez groupSync dans la configuration du provisionnement',
  userIdNotFound: 'Votre entreprise n’a pas cet utilisateur',
  teamNotFound: 'Votre entreprise n’a pas cette équipe',
  teamNameTaken: 'Votre entreprise a déjà une équipe de ce nom',
  teamCycle:
    'Une équipe ne peut pas être sous elle-même : l’équipe parente est l’équipe ou se trouve sous elle',
  teamInUse:
    'Des équipes ou des ressources dépendent de cette équipe ; déplacez-les ou supprimez-les d’abord',
  defaultTeam:
    'L’équipe par défaut accueille les utilisateurs qui ne sont dans aucune autre ; choisissez-en une autre dans les réglages de l’entreprise (`defaultTeamId`), puis supprimez celle-ci',
  memberWithoutTeam: 'Un utilisateur ne serait dans aucune équipe ; ajoutez-le d’abord à une autre',
  wrongPassword: 'Le mot de passe actuel est faux',
  provisionedTeam: 'Le fournisseur d’identité gère cette équipe : changez-y son nom et ses membres',
  tooManyInvitations: 'Trop d’invitations ont été envoyées ; réessayez plus tard',
  singleSignOnNotOffered: 'Il n’y a pas de connexion unique ici',
  singleSignOnRefused:
    'La connexion a échoué ; votre administrateur en trouve la raison dans le journal d’audit',
  missingSamlResponse: 'Le formulaire doit contenir une seule fois le champ SAMLResponse',
  tooManySamlResponses: 'Trop de connexions viennent de cette adresse en même temps ; réessayez bientôt',
  singleSignOnLinkNotFound:
    'Cet utilisateur n’est pas lié au fournisseur d’identité : il n’y a rien à dissocier',
  workflowNotFound: 'Ce workflow n’existe pas',
  workflowVersionNotFound: 'Ce workflow n’a pas cette version',
  unknownWorkflow: 'Votre entreprise n’a pas ce workflow',
  workflowTransition: 'L’état du workflow ne le permet pas',
  workflowInvalid: 'La version ne peut pas être publiée telle qu’elle est',
  versionNotDraft:
    'Seul un brouillon est modifié et publié : restaurez la version, elle devient alors le brouillon',
  versionChanged: 'La version a été enregistrée entre-temps : relisez-la',
  versionConditionRequired: 'Envoyez l’`ETag` de la version que vous avez lue dans l’en-tête `If-Match`',
  tooManyWorkflows: 'Votre entreprise a le plus grand nombre possible de workflows : archivez-en un d’abord',
  usedByWorkflows: 'Un workflow l’utilise ; modifiez-le là et publiez d’abord',
  datasourcesNotShared: 'La version en service lit des sources de données qu’aucune des équipes n’a',
  integrationNotFound: 'Le workflow n’a pas cette intégration',
  tooManyIntegrations:
    'Le workflow a le plus grand nombre possible d’intégrations : supprimez-en une d’abord',
  variableProfileNotFound: 'Ce profil de variables n’existe pas',
  tooManyVariableProfiles:
    'Votre entreprise a le plus grand nombre possible de profils de variables : supprimez-en un d’abord',
  branchCategoryNotFound: 'Cette catégorie de branches n’existe pas',
  tooManyBranchCategories:
    'Votre entreprise a le plus grand nombre possible de catégories de branches : supprimez-en une d’abord',
  branchCategoryTooDeep:
    'La catégorie, ou une qui se trouve sous elle, serait à un niveau qui n’existe pas : choisissez un parent plus haut',
  branchCategoryCycle:
    'Une catégorie ne peut pas être sous elle-même : choisissez un parent qui n’est ni elle ni sous elle',
  branchCategoryHasChildren:
    'D’autres catégories se trouvent sous celle-ci : déplacez-les, ou supprimez-les toutes avec `recursive=true`',
  jsonTemplateNotFound: 'Ce modèle JSON n’existe pas',
  tooManyJsonTemplates:
    'Votre entreprise a le plus grand nombre possible de modèles JSON : supprimez-en un d’abord',
  unknownEntrypoint: 'La version n’a pas ce point d’entrée',
  versionNotRunnable: 'La version ne peut pas encore fonctionner ; sa définition a des fautes',
  experimentNotFound: 'Cette expérience n’existe pas',
  tagKeyNameTaken: 'Une clé d’étiquette de ce nom existe déjà',
  tagKeyNotFound: 'Cette clé d’étiquette n’existe pas',
  tagValueNotFound: 'Cette clé d’étiquette n’a pas cette valeur',
  tagValueInUse: 'Une expérience utilise cette valeur d’étiquette',
  tagKeyInUse: 'Cette clé d’étiquette est utilisée ; retirez-la d’abord là où elle sert',
  tagValueNameTaken: 'Cette clé d’étiquette a déjà une valeur de ce nom',
  systemTagKey:
    'Le service a fait cette clé d’étiquette et la garde ; elle n’est ni modifiée ni supprimée ici',
  tooManyTagKeys:
    'Votre entreprise a le plus grand nombre possible de clés d’étiquette : supprimez-en une d’abord',
  tooManyTagValues:
    'Cette clé d’étiquette a le plus grand nombre possible de valeurs : supprimez-en une d’abord',
  eventAliasNotFound: 'Aucun événement de ce nom n’a d’alias',
  eventAliasChain: 'Un alias mène à un nom qui n’a pas lui-même d’alias',
  tooManyEventAliases:
    'Votre entreprise a le plus grand nombre possible d’alias d’événements : supprimez-en un d’abord',
  unknownMember: 'La requête nomme un membre qui n’existe pas',
  incompatibleMembers: 'La requête nomme des membres qui ne vont pas ensemble',
  virtualMeasureFilter:
    'Une mesure virtuelle ne peut pas être filtrée : elle est calculée à partir d’autres mesures après l’agrégation',
  invalidQuery: 'La requête ne peut pas recevoir de réponse telle qu’elle est écrite',
  resultTooLarge: 'Le résultat est trop volumineux pour l’enveloppe',
  savedQueryNotFound: 'Cette requête enregistrée n’existe pas',
  invalidSchedule: 'La planification n’est pas valable',
  savedQueryRunNotFound: 'Cette requête enregistrée n’a pas cette exécution',
  savedQueryResultNotFound:
    'L’exécution n’a pas ce résultat, ou il a expiré : les résultats sont gardés 7 jours',
  savedQueryRuns: 'Une exécution de cette requête enregistrée n’est pas encore terminée',
  tooManySavedQueries:
    'Votre entreprise a autant de requêtes enregistrées qu’elle le peut : supprimez-en une d’abord',
  savedExplorationNotFound: 'Cette exploration enregistrée n’existe pas',
  tooManySavedExplorations:
    'Votre entreprise a le plus grand nombre possible d’explorations enregistrées : supprimez-en une d’abord',
  cohortNotFound: 'Cette cohorte n’existe pas',
  cohortNameTaken: 'Une cohorte de ce nom existe déjà',
  tooManyCohorts: 'Votre entreprise a le plus grand nombre possible de cohortes : supprimez-en une d’abord',
  cohortKind: 'Une cohorte a une règle ou une liste, et garde celle des deux qu’elle a',
  dashboardNotFound: 'Ce tableau de bord n’existe pas',
  tooManyDashboards:
    'Votre entreprise a le plus grand nombre possible de tableaux de bord : supprimez-en un d’abord',
  experimentTransition: 'L’état de l’expérience ne le permet pas',
  experimentFixed:
    'L’expérience n’est plus un brouillon : ce qui décide de ses chiffres ne peut plus être modifié',
  tooManyExperiments:
    'Votre entreprise a le plus grand nombre possible d’expériences : archivez-en une d’abord',
  experimentNotStarted: 'L’expérience n’a pas commencé : il n’y a pas encore de résultats',
  reportNotFound: 'Ce rapport n’existe pas',
  reportEvidenceNotFound: 'Ce rapport n’a pas cette preuve',
  reportGenerates: 'Une génération de ce rapport n’est pas encore terminée',
  reportNotRetryable:
    'La dernière génération de ce rapport n’a pas échoué, ou une autre tentative échouerait de même',
  reportArchived: 'Ce rapport est archivé : faites-en un autre',
  reportNotAutomatic: 'Seul un rapport automatique est refait pour sa période',
  reportSuperseded: 'Un autre rapport a pris la place de celui-ci',
  tooManyReports: 'Votre entreprise a le plus grand nombre possible de rapports : archivez-en un d’abord',
  tooManyFollowUps:
    'Ce rapport a le plus grand nombre possible de questions de suite : faites un autre rapport',
  questionUnreadable: 'La question ne nomme rien qui puisse être mesuré',
}
