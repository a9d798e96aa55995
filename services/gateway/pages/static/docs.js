// Shows the OpenAPI document with Swagger UI. What is tried out is sent with the token of the page.
const reference = document.getElementById("reference");
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: reference,
  docExpansion: "list",
  validatorUrl: null,
  requestInterceptor: (request) => {
    if (reference.dataset.csrf) request.headers["x-csrf-token"] = reference.dataset.csrf;
    return request;
  },
});
