import { Type } from 'typebox'
import { warningEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import { answers, answersRevision, example, lists, operationsOf, succeeds } from '../operation-builders.ts'
import {
  BranchCategory,
  BranchCategoryCreation,
  BranchCategoryUpdate,
  categoryLimits,
} from '../resources/branch-category.ts'
import { flag, idParams, object } from '../resources/formats.ts'
import { JsonTemplate, JsonTemplateInput, templateLimits } from '../resources/json-template.ts'
import { maxVariableProfiles, VariableProfile, VariableProfileInput } from '../resources/variable-profile.ts'
import { etag, expectedRevision } from '../revision.ts'

const operation = operationsOf('Workflows')

const profiles = '/v2/workflows/variable-profiles'
const ofProfile = idParams('Identifier of the profile')
const profileExample = {
  tool: example('What a sending tool fills in', {
    name: 'Newsletter tool',
    parameters: [
      { name: 'trk-u', default: '{{contact.id}}' },
      { name: 'utm_source', default: 'newsletter' },
      { name: 'utm_campaign' },
    ],
  }),
}

export const listVariableProfiles = {
  ...operation('listVariableProfiles', 'GET', profiles, 'workflowSettings:read'),
  summary: 'List variable profiles',
  description: 'The variable profiles of your company, the oldest first, page by page.',
  ...lists('One page of profiles', VariableProfile),
} as const satisfies Operation

export const readVariableProfile = {
  ...operation('readVariableProfile', 'GET', `${profiles}/:id`, 'workflowSettings:read'),
  summary: 'Read a variable profile',
  errors: ['variableProfileNotFound'],
  ...answers('The profile', VariableProfile, { params: ofProfile }),
} as const satisfies Operation

export const createVariableProfile = {
  ...operation('createVariableProfile', 'POST', profiles, 'workflowSettings:create'),
  summary: 'Create a variable profile',
  description: `A list of parameters for the addresses of workflows that name it (\`variableProfileId\`). A company has at most ${maxVariableProfiles}.`,
  audit: { action: 'variable-profile-create', target: 'variable-profile', named: 'name' },
  errors: ['tooManyVariableProfiles'],
  examples: profileExample,
  ...answers('The profile', VariableProfile, { body: VariableProfileInput }),
} as const satisfies Operation

export const replaceVariableProfile = {
  ...operation('replaceVariableProfile', 'PUT', `${profiles}/:id`, 'workflowSettings:update'),
  summary: 'Replace a variable profile',
  description:
    'Addresses of integrations are made with the new parameters from then on; those that are out there go on.',
  audit: { action: 'variable-profile-update', target: 'variable-profile' },
  errors: ['variableProfileNotFound'],
  examples: profileExample,
  ...answers('The profile as it is now', VariableProfile, { params: ofProfile, body: VariableProfileInput }),
} as const satisfies Operation

export const deleteVariableProfile = {
  ...operation('deleteVariableProfile', 'DELETE', `${profiles}/:id`, 'workflowSettings:delete'),
  summary: 'Delete a variable profile',
  description:
    'Workflows that name it have none afterwards. Their integrations keep its parameters as their own, so that no address changes.',
  audit: { action: 'variable-profile-delete', target: 'variable-profile' },
  errors: ['variableProfileNotFound'],
  ...succeeds('Deleted', { params: ofProfile }),
} as const satisfies Operation

const categories = '/v2/workflows/branch-categories'
const ofCategory = idParams('Identifier of the category')

export const listBranchCategories = {
  ...operation('listBranchCategories', 'GET', categories, 'workflowSettings:read'),
  summary: 'List branch categories',
  description: `The whole tree, each category before those below it and siblings by name. A company has at most ${categoryLimits.perCompany.toLocaleString('en-US')} categories on ${categoryLimits.levels} levels.`,
  ...answers('The tree', Type.Array(BranchCategory)),
} as const satisfies Operation

export const readBranchCategory = {
  ...operation('readBranchCategory', 'GET', `${categories}/:id`, 'workflowSettings:read'),
  summary: 'Read a branch category',
  errors: ['branchCategoryNotFound'],
  ...answers('The category', BranchCategory, { params: ofCategory }),
} as const satisfies Operation

export const createBranchCategory = {
  ...operation('createBranchCategory', 'POST', categories, 'workflowSettings:create'),
  summary: 'Create a branch category',
  description: 'On level 1, or below another category. Names may repeat.',
  audit: { action: 'branch-category-create', target: 'branch-category', named: 'name' },
  errors: ['branchCategoryTooDeep', 'tooManyBranchCategories'],
  examples: {
    top: example('On level 1', { name: 'Loyalty' }),
    below: example('Below another', { name: 'Gold', parentId: '65f0c0ffee5ca1ab1e0ddba1' }),
  },
  ...answers('The category', BranchCategory, { body: BranchCategoryCreation }),
} as const satisfies Operation

export const updateBranchCategory = {
  ...operation('updateBranchCategory', 'PATCH', `${categories}/:id`, 'workflowSettings:update'),
  summary: 'Rename or move a branch category',
  description:
    'A partial update. It moves with all below it; branches keep their categories, and statistics of the past follow the tree as it is now.',
  audit: { action: 'branch-category-update', target: 'branch-category' },
  errors: ['branchCategoryNotFound', 'branchCategoryTooDeep', 'branchCategoryCycle'],
  examples: { top: example('To level 1', { parentId: null }) },
  ...answers('The category as it is now', BranchCategory, { params: ofCategory, body: BranchCategoryUpdate }),
} as const satisfies Operation

export const deleteBranchCategory = {
  ...operation('deleteBranchCategory', 'DELETE', `${categories}/:id`, 'workflowSettings:delete'),
  summary: 'Delete a branch category',
  description:
    'Branches of every workflow lose it. While others are below it, it is deleted with `recursive=true` alone, and they go with it.',
  audit: { action: 'branch-category-delete', target: 'branch-category' },
  errors: ['branchCategoryNotFound', 'branchCategoryHasChildren'],
  ...succeeds('Deleted', {
    params: ofCategory,
    querystring: object({
      recursive: Type.Optional(flag('Whether those below it are deleted too; they are not when absent')),
    }),
  }),
} as const satisfies Operation

const templates = '/v2/workflows/json-templates'
const ofTemplate = idParams('Identifier of the template')
const templateReply = { 200: warningEnvelope(JsonTemplate) }
const templateExample = {
  card: example('A card of a product', {
    name: 'Product card',
    resourceGroupIds: ['65f0c0ffee5ca1ab1e0ddba1'],
    definition: {
      kind: { type: 'static', value: 'card' },
      product: {
        title: { type: 'dependency', variable: 'title' },
        images: { type: 'dependency', variable: 'images' },
      },
    },
    variables: [
      { name: 'title', type: 'scalar', description: 'What the product is called' },
      { name: 'images', type: 'array' },
      { name: 'address', type: 'fixed', index: 0 },
    ],
    redirectVariable: 'address',
  }),
}

export const readJsonTemplate = {
  ...operation('readJsonTemplate', 'GET', `${templates}/:id`, 'workflowSettings:read'),
  summary: 'Read a JSON template',
  errors: ['jsonTemplateNotFound'],
  ...answersRevision('The template', JsonTemplate, { params: ofTemplate }),
} as const satisfies Operation

export const createJsonTemplate = {
  ...operation('createJsonTemplate', 'POST', templates, 'workflowSettings:create'),
  access: 'Workflow settings: create, and membership of every team in `resourceGroupIds`',
  summary: 'Create a JSON template',
  description: `The definition is nested at most ${templateLimits.depth} deep and has at most ${templateLimits.leaves.toLocaleString('en-US')} leaves. Each leaf that is a dependency names a variable; a variable that no leaf names is taken with a warning. A company has at most ${templateLimits.perCompany.toLocaleString('en-US')} templates.`,
  audit: { action: 'json-template-create', target: 'json-template', named: 'name' },
  errors: ['unknownTeam', 'notInTeam', 'tooManyJsonTemplates'],
  examples: templateExample,
  replies: { 200: { description: 'The template', headers: etag } },
  schema: { body: JsonTemplateInput, response: templateReply },
} as const satisfies Operation

export const replaceJsonTemplate = {
  ...operation('replaceJsonTemplate', 'PUT', `${templates}/:id`, 'workflowSettings:update'),
  access: 'Workflow settings: update, and membership of every team that is added to `resourceGroupIds`',
  summary: 'Replace a JSON template',
  description:
    'Published workflows go on with the template as it was; it reaches them when they are published next.',
  audit: { action: 'json-template-update', target: 'json-template' },
  errors: ['jsonTemplateNotFound', 'savedMeanwhile', 'unknownTeam', 'notInTeam'],
  examples: templateExample,
  replies: { 200: { description: 'The template as it is now', headers: etag } },
  schema: { params: ofTemplate, headers: expectedRevision, body: JsonTemplateInput, response: templateReply },
} as const satisfies Operation

export const deleteJsonTemplate = {
  ...operation('deleteJsonTemplate', 'DELETE', `${templates}/:id`, 'workflowSettings:delete'),
  summary: 'Delete a JSON template',
  description:
    'While published workflows use it, it cannot be deleted; the failure names them. Drafts that use it cannot be published afterwards.',
  audit: { action: 'json-template-delete', target: 'json-template' },
  errors: ['jsonTemplateNotFound', 'savedMeanwhile', 'usedByWorkflows'],
  ...succeeds('Deleted', { params: ofTemplate, headers: expectedRevision }),
} as const satisfies Operation
