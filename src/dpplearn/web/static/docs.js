// The reference of the API, by Swagger UI, from files of this server alone.
SwaggerUIBundle({ dom_id: "#api", url: "api/v1/openapi.json", validatorUrl: null, defaultModelsExpandDepth: 0 });
