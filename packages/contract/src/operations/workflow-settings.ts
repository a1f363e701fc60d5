import { Type } from 'typebox'
import { EmptyObject, paginatedEnvelope, successEnvelope, warningEnvelope } from '../envelope.ts'
import type { Operation } from '../operation.ts'
import {
  BranchCategory,
  BranchCategoryCreation,
  BranchCategoryUpdate,
  categoryLimits,
} from '../resources/branch-category.ts'
import { idParams, pagination, strict } from '../resources/formats.ts'
import { JsonTemplate, JsonTemplateInput, templateLimits } from '../resources/json-template.ts'
import { maxVariableProfiles, VariableProfile, VariableProfileInput } from '../resources/variable-profile.ts'
import { etag, expectedRevision } from '../revision.ts'

const may = (action: 'create' | 'read' | 'update' | 'delete') =>
  ({ resource: 'workflowSettings', action }) as const
const shared = { extension: true, scope: 'authenticated', tag: 'Workflows' } as const
const emptyReply = { 200: successEnvelope(EmptyObject) }

const profiles = '/v2/workflows/variable-profiles'
const ofProfile = idParams('Identifier of the profile')
const profileReply = { 200: successEnvelope(VariableProfile) }
const profileExample = {
  tool: {
    summary: 'What a sending tool fills in',
    value: {
      name: 'Newsletter tool',
      parameters: [
        { name: 'trk-u', default: '{{contact.id}}' },
        { name: 'utm_source', default: 'newsletter' },
        { name: 'utm_campaign' },
      ],
    },
  },
}

export const listVariableProfiles = {
  ...shared,
  id: 'listVariableProfiles',
  method: 'GET',
  url: profiles,
  permission: may('read'),
  summary: 'List variable profiles',
  description: 'The variable profiles of your company, the oldest first, page by page.',
  errors: [],
  replies: { 200: { description: 'One page of profiles' } },
  schema: {
    querystring: Type.Object(pagination, strict),
    response: { 200: paginatedEnvelope(VariableProfile) },
  },
} as const satisfies Operation

export const readVariableProfile = {
  ...shared,
  id: 'readVariableProfile',
  method: 'GET',
  url: `${profiles}/:id`,
  permission: may('read'),
  summary: 'Read a variable profile',
  errors: ['variableProfileNotFound'],
  replies: { 200: { description: 'The profile' } },
  schema: { params: ofProfile, response: profileReply },
} as const satisfies Operation

export const createVariableProfile = {
  ...shared,
  id: 'createVariableProfile',
  method: 'POST',
  url: profiles,
  permission: may('create'),
  summary: 'Create a variable profile',
  description: `A list of parameters for the addresses of workflows that name it (\`variableProfileId\`). A company has at most ${maxVariableProfiles}.`,
  audit: { action: 'variable-profile-create', target: 'variable-profile', named: 'name' },
  errors: ['tooManyVariableProfiles'],
  examples: profileExample,
  replies: { 200: { description: 'The profile' } },
  schema: { body: VariableProfileInput, response: profileReply },
} as const satisfies Operation

export const replaceVariableProfile = {
  ...shared,
  id: 'replaceVariableProfile',
  method: 'PUT',
  url: `${profiles}/:id`,
  permission: may('update'),
  summary: 'Replace a variable profile',
  description:
    'Addresses of integrations are made with the new parameters from then on; those that are out there go on.',
  audit: { action: 'variable-profile-update', target: 'variable-profile' },
  errors: ['variableProfileNotFound'],
  examples: profileExample,
  replies: { 200: { description: 'The profile as it is now' } },
  schema: { params: ofProfile, body: VariableProfileInput, response: profileReply },
} as const satisfies Operation

export const deleteVariableProfile = {
  ...shared,
  id: 'deleteVariableProfile',
  method: 'DELETE',
  url: `${profiles}/:id`,
  permission: may('delete'),
  summary: 'Delete a variable profile',
  description:
    'Workflows that name it have none afterwards. Their integrations keep its parameters as their own, so that no address changes.',
  audit: { action: 'variable-profile-delete', target: 'variable-profile' },
  errors: ['variableProfileNotFound'],
  replies: { 200: { description: 'Deleted' } },
  schema: { params: ofProfile, response: emptyReply },
} as const satisfies Operation

const categories = '/v2/workflows/branch-categories'
const ofCategory = idParams('Identifier of the category')
const categoryReply = { 200: successEnvelope(BranchCategory) }

export const listBranchCategories = {
  ...shared,
  id: 'listBranchCategories',
  method: 'GET',
  url: categories,
  permission: may('read'),
  summary: 'List branch categories',
  description: `The whole tree, each category before those below it and siblings by name. A company has at most ${categoryLimits.perCompany.toLocaleString('en-US')} categories on ${categoryLimits.levels} levels.`,
  errors: [],
  replies: { 200: { description: 'The tree' } },
  schema: { response: { 200: successEnvelope(Type.Array(BranchCategory)) } },
} as const satisfies Operation

export const readBranchCategory = {
  ...shared,
  id: 'readBranchCategory',
  method: 'GET',
  url: `${categories}/:id`,
  permission: may('read'),
  summary: 'Read a branch category',
  errors: ['branchCategoryNotFound'],
  replies: { 200: { description: 'The category' } },
  schema: { params: ofCategory, response: categoryReply },
} as const satisfies Operation

export const createBranchCategory = {
  ...shared,
  id: 'createBranchCategory',
  method: 'POST',
  url: categories,
  permission: may('create'),
  summary: 'Create a branch category',
  description: 'On level 1, or below another category. Names may repeat.',
  audit: { action: 'branch-category-create', target: 'branch-category', named: 'name' },
  errors: ['branchCategoryTooDeep', 'tooManyBranchCategories'],
  examples: {
    top: { summary: 'On level 1', value: { name: 'Loyalty' } },
    below: { summary: 'Below another', value: { name: 'Gold', parentId: '65f0c0ffee5ca1ab1e0ddba1' } },
  },
  replies: { 200: { description: 'The category' } },
  schema: { body: BranchCategoryCreation, response: categoryReply },
} as const satisfies Operation

export const updateBranchCategory = {
  ...shared,
  id: 'updateBranchCategory',
  method: 'PATCH',
  url: `${categories}/:id`,
  permission: may('update'),
  summary: 'Rename or move a branch category',
  description:
    'A partial update. It moves with all below it; branches keep their categories, and statistics of the past follow the tree as it is now.',
  audit: { action: 'branch-category-update', target: 'branch-category' },
  errors: ['branchCategoryNotFound', 'branchCategoryTooDeep', 'branchCategoryCycle'],
  examples: { top: { summary: 'To level 1', value: { parentId: null } } },
  replies: { 200: { description: 'The category as it is now' } },
  schema: { params: ofCategory, body: BranchCategoryUpdate, response: categoryReply },
} as const satisfies Operation

export const deleteBranchCategory = {
  ...shared,
  id: 'deleteBranchCategory',
  method: 'DELETE',
  url: `${categories}/:id`,
  permission: may('delete'),
  summary: 'Delete a branch category',
  description:
    'Branches of every workflow lose it. While others are below it, it is deleted with `recursive=true` alone, and they go with it.',
  audit: { action: 'branch-category-delete', target: 'branch-category' },
  errors: ['branchCategoryNotFound', 'branchCategoryHasChildren'],
  replies: { 200: { description: 'Deleted' } },
  schema: {
    params: ofCategory,
    querystring: Type.Object(
      {
        recursive: Type.Optional(
          Type.Boolean({ description: 'Whether those below it are deleted too; they are not when absent' }),
        ),
      },
      strict,
    ),
    response: emptyReply,
  },
} as const satisfies Operation

const templates = '/v2/workflows/json-templates'
const ofTemplate = idParams('Identifier of the template')
const templateReply = { 200: warningEnvelope(JsonTemplate) }
const templateExample = {
  card: {
    summary: 'A card of a product',
    value: {
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
    },
  },
}

export const readJsonTemplate = {
  ...shared,
  id: 'readJsonTemplate',
  method: 'GET',
  url: `${templates}/:id`,
  permission: may('read'),
  summary: 'Read a JSON template',
  errors: ['jsonTemplateNotFound'],
  replies: { 200: { description: 'The template', headers: etag } },
  schema: { params: ofTemplate, response: { 200: successEnvelope(JsonTemplate) } },
} as const satisfies Operation

export const createJsonTemplate = {
  ...shared,
  id: 'createJsonTemplate',
  method: 'POST',
  url: templates,
  permission: may('create'),
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
  ...shared,
  id: 'replaceJsonTemplate',
  method: 'PUT',
  url: `${templates}/:id`,
  permission: may('update'),
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
  ...shared,
  id: 'deleteJsonTemplate',
  method: 'DELETE',
  url: `${templates}/:id`,
  permission: may('delete'),
  summary: 'Delete a JSON template',
  description:
    'While published workflows use it, it cannot be deleted; the failure names them. Drafts that use it cannot be published afterwards.',
  audit: { action: 'json-template-delete', target: 'json-template' },
  errors: ['jsonTemplateNotFound', 'savedMeanwhile', 'usedByWorkflows'],
  replies: { 200: { description: 'Deleted' } },
  schema: { params: ofTemplate, headers: expectedRevision, response: emptyReply },
} as const satisfies Operation
